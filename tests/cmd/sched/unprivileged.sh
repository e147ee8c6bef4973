# Recording for views of the kernel without rights says what is missing, in one message each; with CAP_PERFMON and a tracefs that can
# be read it works, and so do reports without any right.
. "$SUPPORT/lib.sh"
need_root
need_tracefs
need setpriv
chmod 777 .
[ "$(stat -c %a /sys/kernel/tracing)" = 700 ] || skip "tracefs can be read by others here"
with_caps() {	# CAP,CAP COMMAND...
	with=+$(echo "$1" | sed 's/,/,+/g')
	shift
	setpriv --reuid 65534 --regid 65534 --clear-groups --inh-caps="-all,$with" --ambient-caps="-all,$with" --bounding-set="-all,$with" "$@"
}
with_caps perfmon,dac_read_search true 2>why || skip "cannot hand on capabilities: $(head -n 1 why)"
has() {	# EVENT
	[ -d "/sys/kernel/tracing/events/$1" ]
}
records() {	# COMMAND...: refused without rights and with only one of both
	refused "1 129" unprivileged tacho "$@" true
	grep -q 'tracefs is not readable' err && grep -q 'run as root' err || fail "$*: $(cat err)"
	refused "1 129" with_caps perfmon tacho "$@" true
	grep -q 'tracefs is not readable' err || fail "CAP_PERFMON: $*: $(cat err)"
	with_caps perfmon,dac_read_search tacho "$@" true >out 2>err || fail "CAP_PERFMON, CAP_DAC_READ_SEARCH: $*: $(cat err)"
	[ "$(cat /proc/sys/kernel/perf_event_paranoid)" -ge 1 ] || return 0
	refused 1 with_caps dac_read_search tacho "$@" true
	grep -q 'CAP_PERFMON' err || fail "CAP_DAC_READ_SEARCH: $*: $(cat err)"
}
records sched record -q -o sched.data
records kmem record -q -o kmem.data
records kwork record -q -o kwork.data
records timechart record -o chart.data
! has block || records iostat record -q -o iostat.data
! has lock/contention_begin || records lock record -q -a -o lock.data
! has kvm || records kvm stat record -q -a -o kvm.data
reports() {	# COMMAND...: of a recording that belongs to this user
	unprivileged tacho "$@" >out 2>err || fail "$*: $(cat err)"
}
reports sched latency -i sched.data
grep -q Task out || fail "no table: $(cat out)"
reports sched timehist -i sched.data
reports sched map -i sched.data
reports sched export -f chrome -o trace.json -i sched.data
reports kmem stat --slab -i kmem.data
reports kwork report -i kwork.data
reports timechart -o - -i chart.data
[ ! -e lock.data ] || reports lock contention -l -i lock.data
[ ! -e iostat.data ] || reports iostat -i iostat.data
for what in "trace true" "latency -T vfs_read true" "profile true"; do
	refused 1 unprivileged tacho ftrace $what
	grep -q 'cannot be used: permission denied' err && grep -q 'run as root' err || fail "ftrace $what: $(cat err)"
done
