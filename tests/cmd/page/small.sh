# The small page, which builds without npm carry: it fills its tables from a running agent, under the
# policy that it would be served with.
# run: slow
. "$SUPPORT/lib.sh"
. "$SUPPORT/flame.sh"
. "$SUPPORT/page.sh"
need python3
"$SOURCE/tools/make-page" embed "$SOURCE/web/small.html" small small.c
grep -q 'small = true' small.c || fail "not marked as small"
page_browser
page_agent
cat >test.mjs <<'END'
import { readFileSync } from "node:fs";
import { check, finish, open, shot, start, until, url } from "./page.mjs";
const axe = readFileSync("node_modules/axe-core/axe.min.js", "utf8"), c = readFileSync("small.c", "utf8");
const hash = name => new RegExp(name + '_hash = "([^"]+)"').exec(c)[1];
const policy = `default-src 'none'; script-src '${hash("script")}'; style-src '${hash("style")}'; img-src data:; connect-src 'self'`;
const body = readFileSync(process.env.SOURCE + "/web/small.html", "utf8");
await start();
for (const dark of [false, true]) {
	const page = await open("", { dark, routes: { [url]: r => r.fulfill({ body, contentType: "text/html; charset=utf-8",
		headers: { "content-security-policy": policy } }) } });
	await until("the counters are there", async () => (await page.locator("#series tbody tr").count()) > 8);
	await until("with rates", () => page.evaluate(() => [...document.querySelectorAll("#series td:nth-child(5)")].some(td => td.textContent > 0)));
	await until("and the events", async () => (await page.locator("#events tbody tr").count()) >= 5);
	await page.evaluate(axe);
	const found = await page.evaluate(() => axe.run(document, { resultTypes: ["violations"] }).then(r => r.violations.map(v => v.id + ": " + v.help)));
	check(found.length === 0, "axe: " + (found.join() || "clean"));
	await shot(page, "small-" + (dark ? "dark" : "light"));
}
await finish();
END
node test.mjs "$page_url"
page_stop
