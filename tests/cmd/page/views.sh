# In a browser: every view in light, dark and phone width, with a screenshot in web/screenshots. None scrolls sideways, and axe finds nothing
# serious in any.
# run: slow
. "$SUPPORT/lib.sh"
. "$SUPPORT/flame.sh"
. "$SUPPORT/page.sh"
page_browser
page_agent
cat >test.mjs <<'END'
import { readFileSync } from "node:fs";
import { check, finish, open, shot, start, text, until } from "./page.mjs";
await start();
let page;
const axe = readFileSync("node_modules/axe-core/axe.min.js", "utf8");
for (const [mode, opts] of [["light", {}], ["dark", { dark: true }], ["phone", { width: 390, height: 844 }]])
	for (const view of ["counters", "profile", "events", "processes", "exporters", "triggers", "doctor", "agent"]) {
		page = await open(`#v=${view}&span=1m`, opts);
		await until(`${view} ${mode}`, async () => /live/.test(await text(page, ".link-state")));
		await page.waitForTimeout(500);
		await shot(page, `all-${view}-${mode}`);
		const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
		check(wide <= 0, `${view} ${mode}: the page does not scroll sideways (${wide})`);
		const session = await page.context().newCDPSession(page);		/* the page's policy forbids scripts */
		const got = await session.send("Runtime.evaluate", { expression: axe + ";axe.run(document, { resultTypes: ['violations'] })" +
			".then(r => r.violations.filter(v => v.impact === 'serious' || v.impact === 'critical').map(v => v.id + ': ' + v.nodes[0].html))",
			awaitPromise: true, returnByValue: true });
		check(got.result.value?.length === 0, `${view} ${mode}: axe finds ${JSON.stringify(got.result.value)}`);
		await page.context().close();
	}
await finish();
END
node test.mjs "$page_url"
page_stop
