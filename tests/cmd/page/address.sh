# In a browser: everything chosen is in the URL, so that a reload and a shared link show
# the same; and every view can be saved.
# run: slow
. "$SUPPORT/lib.sh"
. "$SUPPORT/flame.sh"
. "$SUPPORT/page.sh"
page_browser
page_agent
cat >test.mjs <<'END'
import { readFileSync } from "node:fs";
import { auth, check, finish, open, profileRoutes, start, text, until, url } from "./page.mjs";
await start();
const routes = profileRoutes([]), page = await open("", { routes });
const card = name => page.locator("article", { has: page.locator("h3", { hasText: new RegExp(`^${name}$`) }) });
const saved = async (at, name) => {
	const [file] = await Promise.all([page.waitForEvent("download"), at.getByRole("button", { name, exact: true }).first().click()]);
	return readFileSync(await file.path(), "utf8");
};
const same = async (what, sign) => {		/* what `sign` reads is there after a reload and for somebody else */
	const wanted = await sign(page), at = page.url();
	await page.reload();
	await until(what + " after a reload", async () => (await sign(page)) === wanted);
	const other = await open(at.slice(url.length), { routes });
	await until(what + " for somebody else", async () => (await sign(other)) === wanted);
	await other.unrouteAll({ behavior: "ignoreErrors" });
	await other.context().close();
};

await until("charts are there", async () => (await page.locator("article canvas").count()) >= 4);
await card("page-faults").hover();
await card("page-faults").getByRole("button", { name: "Large" }).click();
const large = p => p.locator("article.large h3").allTextContents().then(String);
await until("a chart is large", async () => (await large(page)) === "page-faults");
await same("the large chart", large);
await page.locator("article.large").getByRole("button", { name: "Table" }).click();
await until("it is a table", async () => (await page.locator("article.large tbody tr").count()) > 0);
await page.locator("article.large").getByRole("button", { name: "max" }).click();
const order = p => p.locator("[aria-sort=ascending], [aria-sort=descending]").evaluateAll(l => l.map(x => x.textContent).join());
await until("sorted by another column", async () => /^max/.test(await order(page)));
await same("the table and its order", order);
await page.locator("main").focus();
await page.keyboard.press("Escape");
await until("Escape closes it", async () => (await page.locator("article.large").count()) === 0);

const typed = await page.evaluate(async () => {	/* a browser tells later that it has opened something */
	const box = document.querySelector(".picker"), from = box.querySelector("[name=from]");
	const told = new Promise(go => box.addEventListener("toggle", go, { once: true }));
	box.querySelector("summary").click();
	const filled = from.value;
	from.value = "2026-01-02T03:04:05";
	await told;
	return [filled !== "", from.value];
});
check(typed[0], "the range that is shown is there to be changed");
check(typed[1] === "2026-01-02T03:04:05", "what is typed at once stays");
await page.locator("[name=to]").fill("2026-01-02T03:04:04");
await page.getByRole("button", { name: "Show", exact: true }).click();
check(!/t=\d/.test(page.url()), "a range that ends before it begins is not taken");
await page.locator("[name=to]").fill("2026-01-02T04:04:05");
await page.getByRole("button", { name: "Show", exact: true }).click();
await until("any range can be typed", async () => /t=\d+-\d+/.test(page.url()));
const [, a, b] = /t=(\d+)-(\d+)/.exec(page.url());
check(b - a === 3_600_000, "to the second");
await until("a time before the store says that nothing is there", async () => /nothing was measured/.test(await text(page, "main")));
const range = p => text(p, ".picker summary");
await same("the range", range);

await page.locator("main").focus();
await page.keyboard.press("2");
await page.locator(".flame canvas").waitFor();
await page.getByLabel("Command").fill("nginx");
await page.keyboard.press("Enter");
await until("one command's profile", async () => /c=nginx/.test(page.url()));
await page.getByRole("button", { name: "Keep as base" }).click();
await page.getByRole("button", { name: "Table", exact: true }).last().click();
await page.getByRole("button", { name: "Table", exact: true }).first().click();
const profile = async p => [await p.getByLabel("Command").inputValue(), await p.getByRole("button", { name: "Drop the base" }).count(),
	await p.locator("table").count(), await range(p)].join();
await until("both are tables", async () => (await page.locator("table").count()) === 2);
await same("command, base and tables", profile);
check((await saved(page.locator(".panel").first(), "CSV")).startsWith("second,0 ms"), "the heat map as CSV");
check((await saved(page.locator(".panel").first(), "SVG")).includes("<rect"), "the heat map as SVG");
check((await saved(page.locator(".panel").last(), "CSV")).includes("hash_update"), "functions as CSV");
check((await page.getByRole("link", { name: "pprof" }).getAttribute("href")).includes("comm=nginx"), "the profile as pprof");

for (const [key, view] of [[3, "Events"], [6, "Triggers"], [7, "Doctor"]]) {
	await page.locator("main").focus();
	await page.keyboard.press(String(key));
	await until(view, async () => (await text(page, "h1")) === view && (await page.getByRole("button", { name: "CSV" }).count()) > 0);
	check((await saved(page.locator("main"), "CSV")).split("\n").length > 1, "saved as CSV");
	check(Object.values(JSON.parse(await saved(page.locator("main"), "JSON"))).length > 0, "and JSON");
}
await page.keyboard.press("1");
const all = await (await fetch(url + await page.getByRole("link", { name: "JSON" }).getAttribute("href"), auth)).json();
check(Array.isArray(all.series), "all counters as JSON");
await finish();
END
node test.mjs "$page_url"
page_stop
