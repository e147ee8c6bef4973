# In a browser: charts show the agent's counts and are updated; dragging zooms, and the URL has the range; the table and the
# downloaded files have the same numbers.
# run: slow
. "$SUPPORT/lib.sh"
. "$SUPPORT/flame.sh"
. "$SUPPORT/page.sh"
page_browser
page_agent
cat >test.mjs <<'END'
import { check, finish, open, shot, start, text, until, url } from "./page.mjs";
import { readFileSync } from "node:fs";
await start();
const page = await open();
const card = page.locator("article", { has: page.locator("h3", { hasText: /^page-faults$/ }) });
await until("charts are there", async () => (await page.locator("article canvas").count()) >= 4);
await until("the stream is live", async () => /live/.test(await text(page, ".link-state")));
const ticks = async () => (await (await page.request.get(url + "api/v1/series?event=cpu-clock")).json()).series[0].value;
const before = await ticks(), label = () => card.locator("[role=img]").getAttribute("aria-label");
await until("a value is shown", async () => /\d/.test(await card.locator(".now b").textContent()));
const first = await label();
await until("a live update arrives", async () => (await label()) !== first);
await until("the agent counts", async () => (await ticks()) > before);
await until("cpu-clock is a second a second", async () => {
	const [, n] = /^cpu 0([\d.]+) %/.exec(await page.locator("article", { hasText: "cpu-clock" }).locator(".legend li").first().textContent()
		.then(t => t.replace(/\s*(?=[\d.]+ %)/, ""))) ?? [];
	return n > 70 && n < 130;
});
check(await page.locator(".off", { hasText: "cycles" }).count() + await page.locator("h3", { hasText: /^cycles$/ }).count() > 0, "hardware events are told of");
await page.waitForTimeout(4000);
await shot(page, "counters-light-1280");

await card.scrollIntoViewIfNeeded();
const box = await card.locator(".u-over").first().boundingBox();
await page.mouse.move(box.x + box.width * 0.8, box.y + 40);
await page.mouse.down();
await page.mouse.move(box.x + box.width * 0.95, box.y + 60, { steps: 5 });
await page.mouse.up();
await until("a drag zooms", async () => /t=\d+-\d+/.test(page.url()));
const [, from, to] = /t=(\d+)-(\d+)/.exec(page.url());
check(Math.abs((to - from) / 300_000 - 0.15) < 0.03, "to the part that was chosen");
await page.waitForTimeout(500);
check(page.url().includes(`t=${from}-${to}`), "once, though all charts follow the pointer");
await until("and says so", () => page.getByRole("button", { name: "Back to now" }).isVisible());
await page.reload();
await until("the address keeps the range", async () => (await page.getByRole("button", { name: "Back to now" }).count()) > 0);
await page.keyboard.press("ArrowLeft");
await until("arrows move it", async () => Number(/t=(\d+)/.exec(page.url())[1]) < from);
await page.keyboard.press("n");
await until("n follows the clock again", async () => !/t=\d/.test(page.url()));
await page.getByRole("button", { name: "1h" }).click();
await until("a preset is chosen", async () => /span=1h/.test(page.url()));
await page.goBack();
await until("and the browser's back undoes it", async () => /span=5m/.test(page.url()));

await page.keyboard.press("/");
await page.keyboard.type("faults");
await until("a search leaves what matches", async () => (await page.locator("article").count()) === 1);
await card.getByRole("button", { name: "Table" }).click();
await until("a table stands for the chart", async () => (await card.locator("tbody tr").count()) >= 1);
for (const [kind, starts] of [["CSV", "time,"], ["JSON", '{"event":"page-faults"'], ["SVG", "<svg"]]) {
	const [file] = await Promise.all([page.waitForEvent("download"), card.getByRole("button", { name: kind }).click()]);
	const content = readFileSync(await file.path(), "utf8");
	check(content.startsWith(starts) && content.length > 100, kind + " is saved as " + file.suggestedFilename());
}
await page.keyboard.press("Escape");
await page.locator("main").focus();
await page.keyboard.press("?");
await until("? shows the keys", () => page.getByRole("dialog").isVisible());
await page.keyboard.press("Escape");
await until("and Escape closes them", async () => !(await page.getByRole("dialog").isVisible()));
await page.locator("main").focus();
await page.keyboard.press("t");
await until("t makes it dark", () => page.evaluate(() => document.documentElement.dataset.theme === "dark"));
await page.keyboard.press("Escape");
await page.waitForTimeout(1500);
await shot(page, "counters-dark-1280");
await page.setViewportSize({ width: 420, height: 900 });
await until("nothing is wider than a telephone", () => page.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
await shot(page, "counters-dark-420");
await finish();
END
node test.mjs "$page_url"
page_stop
