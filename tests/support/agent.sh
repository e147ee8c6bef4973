# Words for tests of `tacho agent` and of those it sends to: `. "$SUPPORT/agent.sh"` after lib.sh.
# What is started here ends with the test.

unset http_proxy https_proxy HTTP_PROXY HTTPS_PROXY ALL_PROXY all_proxy

free_port() {	# prints a TCP port of the loopback that nobody uses
	python3 -c 'import socket
s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}

wait_for() {	# SECONDS COMMAND...: until it succeeds
	wait_left=$(($1 * 10))
	shift
	until "$@" >wait.out 2>&1; do
		wait_left=$((wait_left - 1))
		if [ "$wait_left" -le 0 ]; then
			tail -n 20 wait.out >&2
			[ ! -s agent.err ] || tail -n 20 agent.err >&2
			fail "waited in vain for: $*"
		fi
		sleep 0.1
	done
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

start_agent() {	# FILE: sets agent_pid and agent_url
	tacho agent -c "$1" >agent.out 2>agent.err &
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
	    if line == "end\n":		# others hold the pipe open
	        break
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
	wait_for 10 grep -q ready load.out
	tacho stat -x, -e page-faults,task-clock -p "$load_pid" -o stat.csv >stat.out 2>stat.err &
	stat_pid=$!
	cat >load.toml <<-END
	[[source]]
	name = "load"
	events = ["page-faults", "task-clock"]
	pids = [$load_pid]
	interval = "200ms"
	END
}

load_is_done() {
	[ "$(grep -c done load.out)" -ge "$1" ]
}

work_load() {	# TIMES PAGES: TIMES counts the calls
	echo "$2" >&9
	wait_for 30 load_is_done "$1"
	sleep 0.5	# two intervals: the agent has read what came of it
}

end_load() {	# stat.csv is there afterwards
	echo end >&9
	wait "$load_pid" || true
	wait "$stat_pid" || true
	[ -s stat.csv ] || { cat stat.err >&2; fail "tacho stat gave nothing"; }
}
