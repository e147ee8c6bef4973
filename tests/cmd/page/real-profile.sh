# In a browser, with the agent's own profile: its flame graph is drawn, the command's search finds the
# work that runs, the files are there, and the heat map filters.
# run: slow
. "$SUPPORT/lib.sh"
. "$SUPPORT/flame.sh"
. "$SUPPORT/page.sh"
page_browser
cat >page.toml <<'END'
[agent]
socket = "ctl"
[profile]
enabled = true
window = "2s"
[[source]]
name = "software"
events = ["context-switches"]
END
page_agent
(exec sh -c 'while :; do :; done') &
busy_pid=$!
cat >test.mjs <<'END'
import { auth, check, finish, open, shot, start, text, until, url } from "./page.mjs";
const ask = async path => (await fetch(url + "api/v1/" + path, auth)).json();
if (!(await ask("status")).profiler) {
	console.log("the agent does not profile here");
	process.exit(77);
}
await until("samples are stored", async () => ((await ask("flame?from=-5m")).total ?? 0) > 20, 60);
await start();
const page = await open("#v=profile");
const graph = page.locator(".flame canvas");
await graph.waitFor();
await until("boxes are drawn", () => graph.evaluate(c => {
	const d = c.getContext("2d").getImageData(0, 0, c.width, 19 * 2 * devicePixelRatio).data;
	let n = 0;
	for (let i = 3; i < d.length; i += 4) n += d[i] > 0;
	return n * 4 / d.length > 0.8;
}));
await page.keyboard.press("/");
await page.keyboard.type("^sh$");
await until("the work that runs is found", async () => parseFloat(/^([\d.]+) %/.exec(await text(page, ".facts"))?.[1]) > 0);
await shot(page, "real-profile");
await page.keyboard.press("Escape");
for (const [kind, starts] of [["SVG", "<"], ["folded", ""], ["JSON", "{"], ["pprof", "\x1f\x8b"]]) {
	const href = await page.getByRole("link", { name: kind, exact: true }).getAttribute("href");
	const r = await fetch(url + href, auth), body = Buffer.from(await r.arrayBuffer()).toString("latin1");
	check(r.status === 200 && body.length > 20 && body.startsWith(starts) && /attachment/.test(r.headers.get("content-disposition")), kind + " is sent as a file");
}
const heat = page.locator("canvas.heat");
await heat.waitFor();
await page.getByRole("button", { name: "1h" }).click();
const h = await heat.boundingBox();
await page.mouse.move(h.x + 2, h.y + 20);
await page.mouse.down();
await page.mouse.move(h.x + h.width - 4, h.y + h.height - 4, { steps: 3 });
await page.mouse.up();
await until("the heat map filters", async () => /sel=\d+-\d+/.test(page.url()));
const [, from, to] = /sel=(\d+)-(\d+)/.exec(page.url());
const part = await ask(`flame?from=${from}&to=${to}`);
check(part.total > 0, "and the part has samples: " + part.total);
await page.getByRole("button", { name: "Against before" }).click();
await until("a comparison is shown", async () => /compared with/.test(await text(page, ".facts")));
await finish();
END
status=0
node test.mjs "$page_url" || status=$?
kill "$busy_pid"
page_stop
exit "$status"
