# A user with only CAP_PERFMON can count in the kernel, on all CPUs and in others' processes. If tracefs, which
# belongs to root, cannot be read, the message says so.
. "$SUPPORT/lib.sh"
need_root
need setpriv
perfmon() {
	setpriv --reuid 65534 --regid 65534 --clear-groups --inh-caps=-all,+perfmon \
		--ambient-caps=-all,+perfmon "$@"
}
perfmon true 2>why || skip "cannot hand on CAP_PERFMON: $(head -n 1 why)"
[ "$(cat /proc/sys/kernel/perf_event_paranoid)" -le 2 ] ||
	skip "above level 2 this kernel may ask for more than CAP_PERFMON"
cp "$TACHO" ./tacho
chmod 755 tacho

counted() {	# EVENT OPTIONS...
	event=$1
	shift
	perfmon ./tacho stat -x, -e "$event" "$@" 2>rows || fail "refused: $event $*: $(cat rows)"
	[ "$(csv_value "$event" rows | cut -d. -f1)" -gt 0 ] || fail "not counted: $event $*: $(cat rows)"
}
counted page-faults true
counted page-faults:k sh -c 'read line </proc/self/stat'
counted cpu-clock -a sleep 0.1
counted cpu-clock -C 0 sleep 0.1

"$TEST_BIN/spin" -c 5 -t 5 &
pid=$!
counted task-clock -p $pid -- sleep 0.1
kill $pid

if [ -d /sys/kernel/tracing ] && ! perfmon test -r /sys/kernel/tracing/events; then
	status=$(status_of perfmon ./tacho stat -e sched:sched_switch true)
	[ "$status" != 0 ] || grep -q '<not ' err || fail "silent about tracefs: $(cat err)"
	grep -Eqi 'tracing|tracefs|CAP_DAC_READ_SEARCH' err || fail "names no remedy: $(cat err)"
fi
