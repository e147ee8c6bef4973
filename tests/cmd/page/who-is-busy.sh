# In a browser: without the token the page asks for it; the first chart says how busy the machine is; a click on a process leads to
# its flame graph; the recording of a trigger can be downloaded; the agent's own counters have a view of their own.
# run: slow
. "$SUPPORT/lib.sh"
. "$SUPPORT/flame.sh"
. "$SUPPORT/page.sh"
page_browser
cat >page.toml <<'END'
[agent]
socket = "ctl"
[[source]]
name = "software"
events = ["context-switches", "page-faults"]
[[trigger]]
name = "switching"
when = "rate(context-switches) >= 0 for 1s"
action = "flame"
length = "1s"
cooldown = "10m"
[[export]]
type = "remote_write"
url = "http://127.0.0.1:1/api/v1/write"
END
export STATE_DIRECTORY="$PWD/state"
page_agent
python3 -c 'while True: pass' busy-argument &
busy=$!
trap 'kill $busy 2>/dev/null' EXIT
cat >test.mjs <<'END'
import { readFileSync } from "node:fs";
import { allowed, check, finish, open, shot, start, text, until, url } from "./page.mjs";
await start();
allowed.push(/401/);		/* the console reports refused requests */
const token = process.env.page_token, busy = process.argv[3];
delete process.env.page_token;
let page = await open("#v=counters");
await until("it asks for the token", async () => /wants its token/.test(await text(page, "h1")));
await page.fill("input[name=token]", "nonsense");
await page.click("button.primary");
await until("a wrong token is refused", async () => /not the token/.test(await text(page, ".failure")));
await shot(page, "locked");
await page.fill("input[name=token]", token);
await page.click("button.primary");
await until("the token opens it", async () => /live/.test(await text(page, ".link-state")));
const cookies = await page.context().cookies();
check(cookies.length === 1 && cookies[0].httpOnly && cookies[0].sameSite === "Strict" && cookies[0].value === token, "the token is in a cookie that scripts cannot read");
await page.context().close();
page = await open("?token=" + token);
await until("so does the link", async () => /live/.test(await text(page, ".link-state")));
check(!page.url().includes("token"), "the link's token is not in the address any more");
await page.context().close();
process.env.page_token = token;

page = await open("#v=counters&span=1m");
await until("the first chart is CPU utilisation", async () => (await page.locator("article h3").first().textContent()) === "cpu-busy");
await until("it says how busy the machine is", async () => /of \d+ CPUs\d[\d.]* ?%/.test((await page.locator("article .now").first().textContent()).replace(/^\d\d:\d\d:\d\d/, "")));
check(!/the agent itself/.test(await page.textContent("main")), "nothing about the agent itself");
await page.keyboard.press("8");
await until("the agent has its own view", async () => /Agent/.test(await text(page, "h1")) && /resident_bytes/.test(await page.textContent("main")));

await page.keyboard.press("4");
await until("the busy process is listed", async () => (await page.locator("td[data-name=pid]", { hasText: new RegExp("^" + busy + "$") }).count()) === 1);
const row = page.locator("tr", { has: page.locator("td[data-name=pid]", { hasText: new RegExp("^" + busy + "$") }) });
check(/busy-argument/.test(await row.textContent()), "with its command line");
await row.locator("td[data-name=process] button").click();
await until("a click leads to its profile", async () => new URL(page.url()).hash.includes("p=" + busy) && /Profile/.test(await text(page, "h1")));
await until("which has only that process", async () => /process \d+/.test(await page.textContent(".panel .bar") ?? "") || /process \d+/.test(await page.textContent("main")));
const profiled = await (await page.request.get(url + "api/v1/status", { headers: { Authorization: "Bearer " + token } })).json();
if (profiled.profiler?.running) {
	await until("its flame graph", async () => (await page.locator(".flame canvas").count()) === 1, 60);
	await shot(page, "process-flame");
}
await page.keyboard.press("6");
await until("the trigger shows its value", async () => /rate\(context-switches\)/.test(await page.textContent("main")) && /cooldown/.test(await page.textContent("main")));
if (profiled.profiler?.running) {
	await until("the trigger has recorded", async () => (await page.locator("td[data-name=recording] a").count()) > 0, 60);
	const [download] = await Promise.all([page.waitForEvent("download"), page.locator("td[data-name=recording] a").first().click()]);
	check(/<svg/.test(readFileSync(await download.path(), "utf8").slice(0, 2000)), "its recording is a flame graph");
}
await page.keyboard.press("5");
await until("an exporter says where it sends", async () => /127\.0\.0\.1:1\/api\/v1\/write/.test(await page.textContent("main")));
await page.context().close();

await finish();
END
node test.mjs "$page_url" $busy
page_stop
