# The agent ends and comes back at the same place: the page says so, waits, and goes on by itself.
# run: slow
. "$SUPPORT/lib.sh"
. "$SUPPORT/flame.sh"
. "$SUPPORT/page.sh"
page_browser
page_agent
cat >test.mjs <<'END'
import { allowed, check, finish, open, shot, start, text, until } from "./page.mjs";
import { existsSync, writeFileSync } from "node:fs";
/* Requests that were under way when the agent ended, however far they had come. */
allowed.push(/ERR_CONNECTION_|ERR_INCOMPLETE_CHUNKED|ERR_EMPTY_RESPONSE|ERR_CONTENT_LENGTH_MISMATCH|ERR_SOCKET_NOT_CONNECTED/);
await start();
const page = await open();
await until("live at first", async () => /live/.test(await text(page, ".link-state")));
writeFileSync("seen", "");
await until("it says that nobody answers", async () => /no answer, again in \d+ s/.test(await text(page, ".link-state")), 60);
await shot(page, "no-answer");
check(await page.locator("article").count() > 0, "and keeps what it has");
writeFileSync("missed", "");
await until("live again by itself", async () => /live/.test(await text(page, ".link-state")), 60);
check(existsSync("restarted"), "after the agent came back");
const label = () => page.locator("article [role=img]").first().getAttribute("aria-label");
const first = await label();
await until("numbers move again", async () => (await label()) !== first);
await finish();
END
node test.mjs "$page_url" >out 2>&1 &
browser_pid=$!
waits() {	# FILE
	for try in $(seq 600); do
		[ ! -e "$1" ] || return 0
		kill -0 "$browser_pid" 2>/dev/null || return 0
		sleep 0.1
	done
}
waits seen
page_stop
waits missed
port=${page_url##*:}
touch restarted		# before it is: the page may be quicker than this script
page_agent "${port%/}"
status=0
wait "$browser_pid" || status=$?
cat out
page_stop
exit "$status"
