# In a browser: 49 charts at 10 Hz. The page works in small steps and not for charts that are not visible: jobs per frame,
# draws per second and created charts are counted. The durations of tasks are only written to web/tasks.txt in the build
# directory.
# run: plain alone slow
. "$SUPPORT/lib.sh"
. "$SUPPORT/flame.sh"
. "$SUPPORT/page.sh"
page_browser
printf '[agent]\nsocket = "ctl"\n[usage]\nenabled = false\n' >page.toml
for i in 1 2 3 4 5 6 7; do
	cat >>page.toml <<-END
	[[source]]
	name = "s$i"
	events = ["cpu-clock", "context-switches", "page-faults", "cpu-migrations", "minor-faults", "major-faults", "task-clock"]
	target = "system"
	per = "cpu"
	interval = "100ms"
	END
done
page_agent
cat >test.mjs <<'END'
import { auth, check, finish, open, start, text, trace, until, url } from "./page.mjs";
await start();
const names = new Set((await (await fetch(url + "api/v1/series", auth)).json()).series.map(s => s.labels.source + " " + s.event));
check(names.size >= 49, names.size + " charts to show");
const page = await open("", { width: 1600, height: 1000 });
const work = () => page.evaluate(() => ({ ...tachoWork, at: performance.now() / 1000 }));
const cards = () => page.locator("article").count(), plots = () => page.locator("article canvas").count();
await until("the stream is live", async () => /live/.test(await text(page, ".link-state")));
await until("charts are there", async () => (await plots()) >= 12);
check(await cards() < 49 && await plots() < 30, `what is far below is not made (${await cards()} cards, ${await plots()} charts)`);
await page.waitForTimeout(1000);

const visible = await plots();
let before = await work(), told = await trace(page, () => page.waitForTimeout(5000)), now = await work();
const rate = (now.draws - before.draws) / (now.at - before.at);	/* tracing itself takes its time */
check(now.draws > before.draws, "charts move");
check(rate <= visible * 5.5, `each at most 5 times a second though it hears 10 (${rate.toFixed(1)} draws a second of ${visible} charts)`);
check(now.plots - before.plots <= visible, `none is made anew for nothing (${now.plots - before.plots})`);
console.log(`told: following the clock, the longest task took ${told.cpu.toFixed(0)} ms of CPU, ${told.wall.toFixed(0)} ms by the clock`);

for (const [what, act] of [
	["scrolling", async () => { for (let i = 0; i < 25; i++) await page.mouse.wheel(0, 400), await page.waitForTimeout(60); }],
	["pointing", async () => { for (let i = 0; i < 20; i++) await page.mouse.move(300 + 20 * i, 400), await page.waitForTimeout(30); }],
	["other colours", async () => { await page.keyboard.press("t"); await page.waitForTimeout(1500); }],
	["another range", async () => { await page.keyboard.press("-"); await page.waitForTimeout(2000); }]]) {
	told = await trace(page, act);
	console.log(`told: ${what}, the longest task took ${told.cpu.toFixed(0)} ms of CPU, ${told.wall.toFixed(0)} ms by the clock`);
}
await until("all cards came while it was scrolled", async () => (await cards()) >= 49 || (await page.mouse.wheel(0, 2000), false));
now = await work();
check(now.most <= 6, "no frame took more than 6 jobs");
check(now.frames > 20, `${now.jobs} jobs in ${now.frames} frames; the longest frame ${now.longest.toFixed(0)} ms`);

await page.keyboard.press("6");		/* another view: nobody listens any more */
await until("another view is there", async () => /Triggers/.test(await text(page, "h1")));
before = await work();
await page.waitForTimeout(2000);
check((await work()).draws === before.draws, "charts that are gone are not drawn");
await page.keyboard.press("1");
await until("charts are back", async () => (await plots()) >= 12);
await page.keyboard.press("p");
await until("paused", async () => /paused/.test(await text(page, ".link-state")));
await until("a paused page draws nothing", async () => {	/* once what it had asked for before has come */
	before = await work();
	await page.waitForTimeout(2000);
	return (await work()).draws === before.draws;
});
await page.keyboard.press("p");
await until("it goes on", async () => (await work()).draws > before.draws);
await finish();
END
status=0
node test.mjs "$page_url" >out || status=$?
cat out
sed -n 's/^told: //p' out >"$BUILD/web/tasks.txt"
page_stop
exit "$status"
