# A user without any capability at perf_event_paranoid 2: own processes in user space can be
# counted, the rest is refused with the smallest remedy. With CAP_PERFMON alone all of it works.
. "$SUPPORT/lib.sh"
need_root
need setpriv
setpriv --list-caps | grep -qx perfmon || skip "this setpriv does not know CAP_PERFMON"
paranoid=$(cat /proc/sys/kernel/perf_event_paranoid)
[ "$paranoid" = 2 ] || skip "perf_event_paranoid is $paranoid, not 2"
cp "$TACHO" ./tacho
chmod 755 tacho

counted() {	# EVENT FILE
	[ "$(csv_value "$1" "$2")" -gt 0 ] || fail "$1 is not counted: $(cat "$2")"
}
plain() {
	unprivileged ./tacho stat "$@"
}
perfmon() {
	setpriv --reuid 65534 --regid 65534 --clear-groups --inh-caps=-all,+perfmon \
		--ambient-caps=-all,+perfmon --bounding-set=-all,+perfmon ./tacho stat "$@"
}

plain -x, -e page-faults:u true 2>rows
counted page-faults:u rows
plain -x, -e page-faults true 2>rows		# falls back to user space
grep -Eq '^[1-9][0-9]*,,page-faults' rows || fail "no fallback: $(cat rows)"

refused "1 129" plain -a -e page-faults true
grep -q paranoid err && grep -q CAP_PERFMON err || fail "no remedy: $(cat err)"
refused "1 129" plain -e page-faults -p 1 true
grep -q -e CAP_PERFMON -e CAP_SYS_PTRACE err || fail "no remedy: $(cat err)"
refused "1 129" plain -e sched:sched_switch true
grep -q -e tracefs -e tracing -e CAP_ err || fail "no remedy: $(cat err)"

perfmon -x, -a -e page-faults true 2>rows
grep -Eq '^[1-9][0-9]*,,page-faults,' rows || fail "CAP_PERFMON alone: $(cat rows)"
perfmon -x, -e page-faults true 2>rows
grep -Eq '^[1-9][0-9]*,,page-faults,' rows || fail "CAP_PERFMON alone: $(cat rows)"
