# A running agent's threads have only the capabilities that counting needs, and system calls that it
# does not need are denied; keep_privileges turns that off.
. "$SUPPORT/lib.sh"
. "$SUPPORT/agent.sh"
need curl python3 jq
need_root
tacho stat -a -x, -e context-switches sleep 0.01 2>may || skip "may not count CPUs: $(cat may)"
agent_head tacho.toml
sed -i "s|^store = .*|store = \"$PWD/agent.db\"|" tacho.toml
cat >>tacho.toml <<END
[[source]]
name = "all"
events = ["context-switches"]
interval = "100ms"
[[export]]
type = "collectd"
socket = "$PWD/nowhere"
flush = "200ms"
END
# PERFMON 38, SYS_PTRACE 19, SYSLOG 34, DAC_READ_SEARCH 2; SYS_ADMIN 21 above level 2.
needed=$(printf '%x' $(((1 << 38) | (1 << 19) | (1 << 34) | (1 << 2))))
[ "$(cat /proc/sys/kernel/perf_event_paranoid)" -le 2 ] ||
	needed=$(printf '%x' $(((1 << 38) | (1 << 19) | (1 << 34) | (1 << 2) | (1 << 21))))
field() {	# NAME: of every thread, each value once
	sed -n "s/^$1:[[:space:]]*0*//p" "/proc/$agent_pid"/task/*/status | sort -u
}
mine=$(sed -n 's/^CapPrm:[[:space:]]*0*//p' /proc/self/status)
kept=$(printf '%x' $((0x$mine & 0x$needed)))
is_dropped() {
	[ "$(field CapPrm)" = "$kept" ] && [ "$(field CapEff)" = "$kept" ]
}
start_agent tacho.toml
is() {	# FIELD VALUE: in every thread
	[ "$(field "$1")" = "$2" ]
}
has_threads() {
	[ "$(ls "/proc/$agent_pid/task" | wc -l)" -ge 4 ]
}
wait_for 10 has_threads
wait_for 10 is_dropped		# the page is there a moment before
wait_for 10 is NoNewPrivs 1	# or programs could gain what was given up
! grep -q seccomp "$BUILD/build.ninja" || wait_for 10 is Seccomp 2

# It still works: opens counters, reads, stores, answers.
sed -i 's/"context-switches"/"context-switches", "page-faults"/' tacho.toml
tacho agent -c tacho.toml ctl reload >out 2>&1 || { cat out >&2; fail "no reload"; }
counts() {
	curl -fsS "$agent_url/api/v1/series?event=page-faults" |
		jq -e '(.series | length > 0) and all(.series[]; .state == "counting" and .time > 0)'
}
wait_for 10 counts
curl -fsS "$agent_url/api/v1/events" | jq -e 'all(.events[]; .state == "counting")' >out || { cat out >&2; fail "an event was lost"; }
! grep -i 'capabilities\|locked' agent.err || fail "reports trouble"
stop_agent

start_agent_kept() {
	tacho agent -c tacho.toml --set agent.keep_privileges=true >agent.out 2>agent.err &
	agent_pid=$!
	wait_url 20 "$agent_url/metrics"
}
start_agent_kept
[ "$(field CapPrm)" = "$mine" ] || fail "not all was kept: $(field CapPrm)"
stop_agent
