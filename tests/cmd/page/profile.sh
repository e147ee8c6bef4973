# In a browser: from a range of the counters to its flame graph; zoom, search, keys, the heat map's
# selection, the comparison, the table. The profile API's answers are prepared, so that the
# numbers are known.
# run: slow
. "$SUPPORT/lib.sh"
. "$SUPPORT/flame.sh"
. "$SUPPORT/page.sh"
page_browser
page_agent
cat >test.mjs <<'END'
import { check, finish, open, profileRoutes, shot, start, text, until } from "./page.mjs";
await start();
const asked = [], last = () => asked[asked.length - 1];
const page = await open("", { routes: profileRoutes(asked) });
await until("charts are there", async () => (await page.locator("article canvas").count()) >= 4);
const box = await page.locator(".u-over").first().boundingBox();
await page.mouse.move(box.x + box.width * 0.5, box.y + 40);
await page.mouse.down();
await page.mouse.move(box.x + box.width * 0.7, box.y + 40, { steps: 4 });
await page.mouse.up();
await until("a range is chosen", async () => /t=\d+-\d+/.test(page.url()));
const [, from, to] = /t=(\d+)-(\d+)/.exec(page.url());
await page.getByRole("button", { name: "Flame graph" }).click();
const graph = page.locator(".flame canvas");
await graph.waitFor();
check(last().get("from") === from && last().get("to") === to, "its flame graph is asked for");
const drawn = () => graph.evaluate(c => {
	const d = c.getContext("2d").getImageData(0, 0, c.width, c.height).data;
	let n = 0;
	for (let i = 3; i < d.length; i += 4) n += d[i] > 0;
	return n / (c.width * c.height);
});
await until("boxes are drawn", async () => (await drawn()) > 0.4);
await page.locator("canvas.heat").waitFor();	/* it moves the graph down */
await shot(page, "profile-light-1280");
const g = await graph.boundingBox();
await page.mouse.move(g.x + g.width * 0.1, g.y + 19 * 2 + 9);
await until("the pointer is told what it is at", async () => /serve 400 samples, 40.0 %/.test(await text(page, ".facts")));
await page.mouse.click(g.x + g.width * 0.1, g.y + 19 * 2 + 9);
await until("a click zooms", async () => /z=/.test(page.url()));
await page.mouse.move(g.x + g.width * 0.9, g.y + 19 * 2 + 9);
await until("so that the box fills the width", async () => /^serve/.test(await text(page, ".facts")));
await page.reload();
await until("the address keeps the zoom", async () => (await page.getByRole("button", { name: "Whole graph" }).count()) > 0);
await graph.focus();
await page.keyboard.press("ArrowDown");
await until("keys go to the callee", async () => /read_request/.test(await text(page, ".facts")));
await page.keyboard.press("ArrowRight");
await until("and to the neighbour", async () => /push_back/.test(await text(page, ".facts")));
await page.keyboard.press("Escape");
await until("Escape shows all again", async () => !/z=/.test(page.url()));
await page.mouse.move(5, 5);
await page.locator("main").focus();
await page.keyboard.press("/");
await page.keyboard.type("vfs_|hash");
await until("a search says how much it found", async () => /40.0 %/.test(await text(page, ".facts")));
await shot(page, "profile-search");
await page.keyboard.press("Escape");

const heat = page.locator("canvas.heat"), h = await heat.boundingBox(), n = asked.length;
await page.mouse.move(h.x + h.width * 0.25, h.y + 50);
await page.mouse.down();
await page.mouse.move(h.x + h.width * 0.5, h.y + 100, { steps: 4 });
await page.mouse.up();
await until("a part of the heat map is chosen", async () => /sel=\d+-\d+/.test(page.url()));
await until("and filters the flame graph", async () => asked.length > n && last().get("from") === /sel=(\d+)/.exec(page.url())[1]);
const part = (last().get("to") - last().get("from")) / (to - from);
check(part > 0.15 && part < 0.4, "to a quarter of the range (" + part.toFixed(2) + ")");
check((last().get("to") - last().get("from")) % 20 === 0, "in steps of 20 ms");
await shot(page, "profile-selected");
await heat.focus();
await page.keyboard.press("Escape");
await until("Escape gives it up", async () => !/sel=/.test(page.url()));

await page.getByRole("button", { name: "Against before" }).click();
await until("the range before is the base", async () => last().get("base_to") === from);
await until("and compared with", async () => /compared with 800/.test(await text(page, ".facts")));
await shot(page, "profile-diff");
await page.getByRole("button", { name: "Table", exact: true }).last().click();
await until("a table of functions", async () => (await page.locator(".panel tbody tr").count()) >= 5);
check(/hash_update/.test(await text(page, ".panel tbody tr")), "with the one that took most on top");
for (const kind of ["SVG", "pprof", "folded", "speedscope", "HTML", "JSON"])
	check(/format=/.test(await page.getByRole("link", { name: kind, exact: true }).getAttribute("href")), kind + " can be saved");
await page.keyboard.press("t");
await page.getByRole("button", { name: "Drop the base" }).click();
await page.getByRole("button", { name: "Table", exact: true }).last().click();
await graph.waitFor();
await page.setViewportSize({ width: 1920, height: 1080 });
await page.waitForTimeout(500);
await shot(page, "profile-dark-1920");
await page.setViewportSize({ width: 420, height: 900 });
await until("nothing is wider than a telephone", () => page.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
await shot(page, "profile-dark-420");
await finish();
END
node test.mjs "$page_url"
page_stop
