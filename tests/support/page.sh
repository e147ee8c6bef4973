# Words for the tests of the agent's page: `. "$SUPPORT/page.sh"` after lib.sh and flame.sh.

# Starts an agent that counts software events 4 times a second, on a free port (or PORT), and sets
# page_pid and page_url.
page_agent() {	# [PORT] [ARG...]
	page_port=${1:-0}
	[ $# = 0 ] || shift
	[ -e page.toml ] || cat >page.toml <<-'END'
	[agent]
	socket = "ctl"
	[[source]]
	name = "software"
	events = ["cpu-clock", "context-switches", "page-faults", "cpu-migrations"]
	target = "system"
	per = "cpu"
	interval = "250ms"
	[[source]]
	name = "hardware"
	events = ["{cycles,instructions}"]
	target = "system"
	per = "cpu"
	interval = "1s"
	[[trigger]]
	name = "busy"
	when = "rate(context-switches) > 1000000000 for 5s"
	END
	: >agent.log
	export STATE_DIRECTORY="${STATE_DIRECTORY:-$PWD/state}"
	tacho agent -c page.toml --listen "127.0.0.1:$page_port" --store "$PWD/page.db" "$@" >agent.log 2>&1 &
	page_pid=$!
	page_url=
	for page_try in $(seq 300); do
		page_url=$(sed -n 's/.*page at \(http[^ ]*\).*/\1/p' agent.log)
		page_token=$(sed -n 's/.*[?]token=\([0-9a-f]*\).*/\1/p' agent.log)
		export page_token
		[ -z "$page_token" ] || [ -z "$page_url" ] || return 0
		kill -0 "$page_pid" 2>/dev/null || break
		sleep 0.1
	done
	cat agent.log
	skip "the agent does not start here"
}

page_stop() {
	kill "$page_pid"
	wait "$page_pid" || true
}

page_browser() {	# what node and chromium need, or the test is skipped
	need node chromium
	[ -e "$BUILD/web/page.html" ] || skip "this build has the small page"
	npm_packages playwright-core@1.57.0 axe-core@4.14.0
	cp "$SUPPORT/page.mjs" "$SUPPORT/page-fake.mjs" .
	mkdir -p "$BUILD/web/screenshots"
}
