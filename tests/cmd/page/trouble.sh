# In a browser, with an agent that fails, is slow, or sends invalid answers: the page says what is wrong, keeps its data,
# sends no further requests meanwhile, and continues by itself.
# run: slow
. "$SUPPORT/lib.sh"
. "$SUPPORT/flame.sh"
. "$SUPPORT/page.sh"
page_browser
cat >test.mjs <<'END'
import { fakeAgent } from "./page-fake.mjs";
const one = { id: 1, event: "cycles", name: "n", unit: "", kind: "counter", labels: { source: "s", cpu: "0" }, state: "counting", reason: null, time: Date.now(), value: 1, ended: false };
const down = { status: 500, body: '{"error":"the disk is on fire","hint":"put it out"}' };
const answers = { status: { status: 503, body: "<html>a proxy's page</html>" }, series: { generation: 1, series: [one] } };
const fake = await fakeAgent(answers);
process.argv[2] = fake.url;
const { allowed, check, finish, open, shot, start, text, until } = await import("./page.mjs");
allowed.push(/status of (500|503|404)/);
await start();
const page = await open(), state = () => text(page, ".link-state"), main = () => text(page, "main");
await until("an answer that is no JSON is told of", async () => /answers with status 503, again in \d+ s/.test(await state()));
delete answers.status;
let release;
answers.query = { held: new Promise(go => (release = go)), series: [] };
await page.locator("button.link-state").click();
await until("a click tries again at once", async () => /live/.test(await state()));
await until("a slow history is told of", async () => /reading the history/.test(await main()));
let value = 1;
const live = setInterval(() => fake.send(JSON.stringify({ t: Date.now(), source: "s", p: [[1, (value += 500), 0]] })), 250);
await until("while what is live is shown", async () => /[\d.]+k?\/s/.test((await text(page, "article .now")).replace(/\s/g, "")));
answers.query = down;
release();
await page.getByRole("button", { name: "1h" }).click();
await page.waitForTimeout(500);
check(/live/.test(await state()), "a store that fails does not end the live data");
await page.keyboard.press("p");
await until("a range without history says why", async () => /the disk is on fire/.test(await main()));
answers.query = { series: "what?" };
await page.keyboard.press("ArrowLeft");
await until("nonsense is called so", async () => /answer is damaged/.test(await main()));
await page.keyboard.press("n");

answers.events = down;
await page.keyboard.press("3");
await until("a view says what failed, and what helps", async () => /the disk is on fire — put it out/.test(await main()));
await shot(page, "failure");
answers.events = { events: [{ source: "s", event: "cycles", original: "cycles", pmu: "cpu", unit: "", target: "system", per: "cpu", state: "counting", reason: null, share: 1, counters: 1, series: 1, interval_ms: 1000 }] };
await page.getByRole("button", { name: "Try again" }).click();
await until("and tries again when asked", async () => (await page.locator("tbody tr").count()) === 1);
answers.events = down;
await until("a table stays when the next question fails", async () => /the disk is on fire/.test(await main()) && (await page.locator("tbody tr").count()) === 1);
answers.events = { after: 12_000, events: [] };
fake.busy.events.most = 0;
await page.waitForTimeout(11_000);
check(fake.busy.events.most <= 1, "a slow agent is asked one thing at a time");
answers.exporters = { exporters: null };
await page.keyboard.press("5");
await until("a view that cannot be shown says so", async () => /cannot be shown/.test(await main()));
await page.keyboard.press("7");
await until("and the others still work", async () => (await text(page, "h1")) === "Doctor" && !/cannot be shown/.test(await main()));

allowed.push(/ERR_/);
fake.close();
clearInterval(live);
await until("nobody answers", async () => /no answer, again in|stream has ended/.test(await state()));
await page.keyboard.press("1");
await until("charts stay", async () => (await page.locator("article").count()) === 1);
await shot(page, "trouble");
await finish();
END
node test.mjs
