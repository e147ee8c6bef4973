# A user without capabilities at perf_event_paranoid 2: own processes are counted in user space;
# for what is refused (all CPUs, the kernel, others' processes, tracepoints) the message has the fix.
. "$SUPPORT/lib.sh"
need_root
need setpriv jq
[ "$(cat /proc/sys/kernel/perf_event_paranoid)" = 2 ] || skip "needs perf_event_paranoid 2"
cp "$TACHO" ./tacho
chmod 755 tacho

unprivileged ./tacho stat -x, -e task-clock,page-faults true 2>rows ||
	fail "own processes are refused: $(cat rows)"
[ "$(csv_value page-faults:u rows)" -gt 0 ] || fail "no page faults in user space: $(cat rows)"
[ "$(csv_value task-clock:u rows | tr -d .)" -gt 0 ] || fail "no time in user space: $(cat rows)"
unprivileged ./tacho stat -x, -e page-faults:u true 2>rows || fail "page-faults:u: $(cat rows)"
unprivileged ./tacho stat -x, true 2>rows || fail "the default events are refused: $(cat rows)"

# Context switches happen in the kernel only: not a silent zero, but a reason and a fix.
unprivileged ./tacho stat -j -e context-switches,page-faults true 2>rows || fail "refused: $(cat rows)"
jq -e -s 'map(select(.event | startswith("context-switches")).reason)[0] |
	test("perf_event_paranoid") and test("CAP_PERFMON")' rows >/dev/null || fail "no reason: $(cat rows)"

# The fixes. A refused event may end the run or be marked as not counted, but never silently.
remedied() {	# WORDS COMMAND...
	words=$1
	shift
	status=$(status_of unprivileged ./tacho "$@")
	if [ "$status" = 0 ]; then
		grep -q '<not ' err out || fail "allowed or silent: $*: $(cat out err)"
	fi
	grep -Eqi "$words" err || fail "names no remedy: $*: $(cat err)"
}
paranoid='perf_event_paranoid|CAP_PERFMON'
remedied "$paranoid" stat -a -e task-clock true
remedied "$paranoid" stat -C 0 -e task-clock true
remedied "$paranoid" stat -e page-faults:k true
remedied "$paranoid|CAP_SYS_PTRACE" stat -e page-faults:u -p 1 -- true
if [ -d /sys/kernel/tracing ] && ! unprivileged test -r /sys/kernel/tracing/events; then
	remedied 'tracing|tracefs|CAP_DAC_READ_SEARCH' stat -e sched:sched_switch true
fi
