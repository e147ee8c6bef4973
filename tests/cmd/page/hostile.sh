# In a browser, with 10,000 series of names and values that mean harm: they are shown as the text they
# are, the page stays quick to use, and a damaged batch costs nothing but itself.
# run: both slow
. "$SUPPORT/lib.sh"
. "$SUPPORT/flame.sh"
. "$SUPPORT/page.sh"
page_browser
cat >test.mjs <<'END'
import { readFileSync } from "node:fs";
import { fakeAgent } from "./page-fake.mjs";
const names = ["<img src=x onerror=alert(1)>", "</script><b>bold</b>", "\u202Egnirts\u202C", "שלום עולם", "事件", "a".repeat(500), "=1+cmd|' /C calc'!A0", "%s&amp;\"'`\n\0"];
const per = 100, n = 10_000, now = Date.now(), series = [];
for (let i = 0; i < n; i++) {
	const e = Math.floor(i / per);
	series.push({ id: i + 1, event: names[e] ?? "event-" + e, name: "n", unit: ["", "seconds", "bytes", "joules", "ratio", "<i>"][e % 6],
		kind: e % 5 ? "counter" : "gauge", labels: { source: e % 9 ? "many" : "<u>x</u>", cpu: String(i % per) }, state: "counting", reason: null,
		time: now - 1000, value: 0, ended: false });
}
const same = (pattern, event) => event.replace(/[[\]*?\\]/g, "?") === pattern;
const query = p => ({ series: series.filter(s => same(p.get("event"), s.event)).map((s, k) => ({ event: s.event, unit: s.unit, kind: s.kind, labels: s.labels,
	points: Array.from({ length: 50 }, (_, i) => [+p.get("from") + i * 5000, [1e300, -1e12, null, 0.00001, k][i % 5], 0, 0, 1]) })) });
const fake = await fakeAgent({ series: { generation: 1, series: [...series, null, { id: "x" }, {}] }, query,
	events: { events: names.map(event => ({ source: event, event, original: event, pmu: event, unit: "", target: event, per: "cpu", state: event.slice(0, 20), reason: event, share: 1e300, counters: 1e21, series: 1, interval_ms: 1e300 })) },
	triggers: { triggers: names.map(name => ({ name, when: name })), events: [{ id: 1, time: 8e15, kind: names[0], name: names[1], text: names[2], path: names[3] }] },
	exporters: { exporters: [{ name: names[0], type: names[1], connected: false, sent_points: 1e300, dropped_points: -1, queued_points: 0, queued_bytes: 1e30, retries: 0, lag_seconds: 1e300, error: names[5] }] },
	doctor: { counting: true, sampling: true, findings: names.map((title, i) => ({ id: String(i), topic: title, title, verdict: "no", value: title, meaning: title, affects: null, fix: title })) } });
process.argv[2] = fake.url;
const { check, finish, open, shot, start, text, until } = await import("./page.mjs");
await start();
const page = await open("", { height: 800 });
page.on("dialog", d => check(false, "no name may run: " + d.message()));
const inside = () => page.evaluate(() => document.querySelectorAll("main img, main u, main script, main b b").length);
const cards = () => page.locator("article").count();
await until("charts of 10,000 series are there", async () => (await page.locator("article canvas").count()) >= 6);
check(await cards() < 60, `not all at once (${await cards()} cards)`);
check(await page.locator("h3", { hasText: "<img src=x" }).count() === 1, "a name is the text it is");
check(await inside() === 0, "and no element");
check(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), "a name of 500 letters makes nothing wider");
check((await page.locator(".now b").allTextContents()).every(t => t.length < 12), "numbers of 300 digits are short");
await until("100 CPUs are folded into mean, least and most", async () => (await page.locator(".legend").first().textContent()).startsWith("mean"));

for (const bad of ["{", "null", "[]", '{"t":1}', '{"t":"x","source":null,"p":[[1,"y",0],[2],null]}', `{"t":${Date.now()},"source":"many","p":[[1e9,1,0],[-1,1,0]]}`]) fake.send(bad);
for (let k = 1; k <= 3; k++) {
	fake.send(JSON.stringify({ t: Date.now() + k, source: "many", p: series.map(s => [s.id, k % 2 ? s.id * k : 1e308, 0]) }));
	await page.waitForTimeout(300);
}
await until("the stream goes on", async () => /live/.test(await text(page, ".link-state")));

await page.keyboard.press("/");
await page.keyboard.type("cpu 42");
await until("a search chooses one line of each", async () => (await page.locator("article .legend").first().locator("li").count()) === 1);
check(await cards() < 100, "of the charts in sight");
await page.keyboard.press("Escape");
await page.keyboard.press("Escape");
await page.locator("main").focus();
const first = page.locator("article").first();
await until("all are back", async () => (await first.locator(".legend li").count()) === 3);
await first.hover();
await first.getByRole("button", { name: "100 lines" }).click();
await until("one can be shown large", async () => (await page.locator("article.large .legend li").count()) === 40);
check(/highest 40 of 100/.test(await text(page, "article.large")), "with the highest");
const [file] = await Promise.all([page.waitForEvent("download"), page.locator("article.large").getByRole("button", { name: "CSV" }).click()]);
check(readFileSync(await file.path(), "utf8").split("\n")[0].split(",").length === 101 && /^[\w.-]+$/.test(file.suggestedFilename()), "and saved as " + file.suggestedFilename());
await page.locator("article.large").getByRole("button", { name: "Table" }).click();
await until("or as a table of all", async () => (await page.locator("article.large tbody tr").count()) === 100);
await shot(page, "hostile-table");
for (const [key, view] of [[3, "Events"], [4, "Processes"], [5, "Exporters"], [6, "Triggers"], [7, "Doctor"], [1, "Counters"]]) {
	await page.locator("main").focus();
	await page.keyboard.press(String(key));
	await until(view + " is there", async () => (await text(page, "h1")) === view);
	await page.waitForTimeout(400);
	check(await inside() === 0, "without an element of theirs");
	check(!(await page.locator("[role=alert]").count()), "and copes");
	check(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), "within its width");
	await shot(page, "hostile-" + view.toLowerCase());
}
check((await page.evaluate(() => tachoWork.most)) <= 6, "all in small steps");
await finish();
fake.close();
END
node test.mjs
