# Words for tests of `tacho agent` and of those it sends to: `. "$SUPPORT/agent.sh"` after lib.sh.
# What is started here ends with the test.

# Queues and sockets of its own, also for root.
export STATE_DIRECTORY="$PWD/state" RUNTIME_DIRECTORY="$PWD/state"
unset http_proxy https_proxy HTTP_PROXY HTTPS_PROXY ALL_PROXY all_proxy

# Reading over TCP needs the agent's token, which is in its state directory.
curl() {
	if [ -r "$STATE_DIRECTORY/token" ]; then
		command curl -H "Authorization: Bearer $(cat "$STATE_DIRECTORY/token")" "$@"
	else
		command curl "$@"
	fi
}

free_port() {	# prints an unused port of the loopback, which no other test gets
	"$SUPPORT/free-port"
}

wait_url() {	# SECONDS URL
	wait_for "$1" curl -fsS -m 5 "$2"
}

end() {	# PID: asks it to end, and waits
	kill "$1" 2>/dev/null || true
	wait "$1" 2>/dev/null || true
}

# The head of a configuration of which nothing is shared with other agents; sources and exports are
# appended by the test.
agent_head() {	# FILE
	agent_port=$(free_port)
	cat >"$1" <<-END
	[agent]
	listen = ["127.0.0.1:$agent_port"]
	store = ""
	socket = "$PWD/ctl"
	labels = { rack = "r 1" }
	[profile]
	enabled = false
	END
}

start_agent() {	# FILE [OPTIONS]: sets agent_pid and agent_url
	tacho agent -c "$@" >agent.out 2>agent.err &
	agent_pid=$!
	agent_url=http://127.0.0.1:$agent_port
	wait_url 20 "$agent_url/metrics"
}

stop_agent() {
	end "$agent_pid"
}

need_counting() {
	tacho stat -x, -e page-faults,task-clock true 2>may || skip "may not count: $(cat may)"
}

# A process whose page faults and CPU time are counted: by the agent and, at the same time, by
# `tacho stat`. It waits for work_load, and waits again when that is done.
start_load() {	# sets load_pid
	mkfifo load.in
	cat >load.py <<-'END'
	import mmap, sys, time
	print("ready", flush=True)
	for line in sys.stdin:
	    m = mmap.mmap(-1, int(line) * mmap.PAGESIZE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
	    m.madvise(mmap.MADV_NOHUGEPAGE)
	    for i in range(int(line)):
	        m[i * mmap.PAGESIZE] = 1
	    end = time.process_time() + 0.3
	    while time.process_time() < end:
	        pass
	    m.close()
	    print("done", flush=True)
	END
	python3 load.py <load.in >load.out 2>load.err &
	load_pid=$!
	exec 9>load.in
	wait_for 10 load_waits ready 1
	mkfifo stat.ctl stat.ack
	tacho stat -x, -e page-faults,task-clock -p "$load_pid" -o stat.csv -D -1 \
		--control fifo:stat.ctl,stat.ack >stat.out 2>stat.err &
	stat_pid=$!
	exec 8<>stat.ctl 7<>stat.ack
	echo enable >&8
	timeout 60 head -n 1 <&7 >stat.counts || { cat stat.err >&2; fail "tacho stat does not count"; }
	cat >load.toml <<-END
	[[source]]
	name = "load"
	events = ["page-faults", "task-clock"]
	pids = [$load_pid]
	interval = "200ms"
	END
}

load_waits() {	# WORD TIMES: it has said so, and reads again
	[ "$(grep -c "$1" load.out)" -ge "$2" ] && grep -q '^State:[[:space:]]*S' "/proc/$load_pid/status"
}

load_is_read() {	# SINCE_MS: the agent has read both counters since then
	curl -fsS -m 5 "$agent_url/api/v1/series?source=load" |
		jq -e --argjson since "$1" '.series | length == 2 and all(.[]; .time >= $since)'
}

work_load() {	# TIMES PAGES: TIMES counts the calls; the agent has read what came of it afterwards
	echo "$2" >&9
	wait_for 30 load_waits done "$1"
	wait_for 30 load_is_read "$(date +%s%3N)"
}

# stat.csv is there afterwards. The process waits on until the test is over: the agent may count still,
# and an end would cost CPU time that `tacho stat` does not see.
end_load() {
	kill -INT "$stat_pid"
	wait "$stat_pid" || true
	[ -s stat.csv ] || { cat stat.err >&2; fail "tacho stat gave nothing"; }
}

start_receiver() {	# PORT DIR [--tls CERT KEY CLIENT_CA]: sets receiver_pid
	mkdir -p "$2"
	: >receiver.out	# one before this was ready, too
	"$SUPPORT/http-receiver" "$@" >receiver.out 2>receiver.err &
	receiver_pid=$!
	wait_for 10 grep -q ready receiver.out
}

metric_is() {	# NAME{LABELS PATTERN: whether the agent's own metric has a value that matches
	curl -fsS -m 20 "$agent_url/metrics" >metric.page && grep "^$1" metric.page | grep -q " $2\$"
}

none_dropped() {	# EXPORTER: fails with what the agent says of it
	metric_is "tacho_exporter_dropped_points_total{exporter=\"$1\"" 0 && return 0
	grep "{exporter=\"$1\"" metric.page >&2
	tail -n 20 agent.err >&2
	fail "$1: points were dropped"
}
