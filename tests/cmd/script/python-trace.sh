# Tracepoints in Python scripts: arguments, names of flags, and counts of 'stat record'.
. "$SUPPORT/lib.sh"
need python3
need_root
tacho record -q -a -e sched:sched_switch,sched:sched_process_exec,irq:softirq_entry -o t.data \
	sh -c 'for i in 1 2 3; do ls / >/dev/null; sleep 0.01; done' 2>err || skip "cannot record tracepoints: $(head -n 1 err)"
cat >t.py <<'P'
from perf_trace_context import *
from Core import *

seen = {'switch': 0, 'exec': 0, 'vectors': set()}


def sched__sched_switch(event_name, context, cpu, secs, nsecs, pid, comm, chain, prev_comm, prev_pid, prev_prio,
                        prev_state, next_comm, next_pid, next_prio):
    assert event_name == 'sched__sched_switch' and prev_pid == pid and chain == []
    assert isinstance(prev_comm, str) and isinstance(next_pid, int) and 0 <= nsecs < 1000000000
    assert common_pc(context) >= 0 and trace_flag_str(common_flags(context))
    assert flag_str(event_name, 'prev_state', 1) == 'S'
    seen['switch'] += 1
    print('%.6f' % (secs + nsecs / 1e9), cpu, prev_comm, prev_pid, next_comm, next_pid)


def irq__softirq_entry(event_name, context, cpu, secs, nsecs, pid, comm, chain, vec, sample):
    assert sample['sample']['time'] == secs * 1000000000 + nsecs and sample['raw_buf']
    seen['vectors'].add(symbol_str(event_name, 'vec', vec))


def trace_unhandled(event_name, context, fields):
    assert event_name == 'sched__sched_process_exec', event_name
    assert isinstance(fields['filename'], str) and fields['pid'] > 0 and fields['common_comm']
    seen['exec'] += 1


def trace_end():
    assert seen['switch'] and seen['exec'] >= 7, seen
    assert seen['vectors'] <= {'HI', 'TIMER', 'NET_TX', 'NET_RX', 'BLOCK', 'IRQ_POLL', 'TASKLET', 'SCHED', 'HRTIMER', 'RCU'}, seen
P
tacho script -i t.data -s t.py >out 2>err || fail "$(cat err)"
tacho script -i t.data -F trace,event | sed -n 's/.*sched_switch: *//p' >text
[ "$(wc -l <out)" = "$(wc -l <text)" ] || fail "$(wc -l out text)"
paste out text | awk '{ for (i = 1; i <= NF; i++) if ($i ~ /^prev_pid=/) sub(/.*=/, "", $i) && found = $i; ok += index($0, found) > 0 }
	END { exit ok != NR }' || fail "other processes"
tacho script -i t.data -g starter.py 2>err
grep -q '^def sched__sched_switch(event_name, context' starter.py || fail "$(cat starter.py)"
tacho script -i t.data -s starter.py >started
[ "$(grep -c ' sched__sched_switch prev_comm=' started)" = "$(wc -l <out)" ] || fail "$(head -n 5 started)"

tacho stat record -o s.data -e task-clock,page-faults true 2>/dev/null
cat >s.py <<'P'
counts = {}


def stat__page_faults(cpu, thread, time, val, ena, run):
    counts[(cpu, thread)] = val
    assert 0 < run <= ena


globals()['stat__page-faults'] = stat__page_faults


def stat__interval(time):
    assert time > 0 and counts
    print('faults', sum(counts.values()))
P
tacho script -i s.data -s s.py >out 2>err || fail "$(cat err)"
grep -q '^faults [1-9]' out || fail "$(cat out)"

# The scripts of perf's package, where it is installed, print what they print under perf.
scripts=/usr/lib/perf-core/scripts/python
[ -d "$scripts" ] || scripts=/usr/libexec/perf-core/scripts/python
[ -d "$scripts" ] && command -v perf >/dev/null || exit 0
tacho record -q -a -e raw_syscalls:sys_enter,raw_syscalls:sys_exit,syscalls:sys_enter_futex,syscalls:sys_exit_futex -o sys.data \
	sh -c 'ls /nonexistent; cat /etc/hostname; sleep 0.05' >/dev/null 2>&1
cp "$TEST_BIN/hot" here
tacho record -q -g -e cpu-clock:u -F 2000 -o hot.data ./here
same() {	# FILE SCRIPT ARG...
	same_file=$1
	same_script=$2
	shift 2
	rm -f /dev/shm/perf.db
	command perf script -i "$same_file" -s "$scripts/$same_script" "$@" 2>/dev/null </dev/null |
		grep -v -e audit -e 'For example' -e '^  etc' -e '^$' >perf.txt || return 0
	rm -f /dev/shm/perf.db
	tacho script -i "$same_file" -s "$scripts/$same_script" "$@" 2>err </dev/null | grep -v '^$' >tacho.txt
	rm -f /dev/shm/perf.db
	diff perf.txt tacho.txt || fail "$same_script prints something else: $(cat err)"
}
for name in syscall-counts syscall-counts-by-pid failed-syscalls-by-pid futex-contention compaction-times; do
	same sys.data $name.py
done
same sys.data syscall-counts.py cat
same t.data compaction-times.py
for name in stackcollapse event_analyzing_sample mem-phys-addr; do
	same hot.data $name.py
done
same hot.data stackcollapse.py --include-tid
tacho script -l >out
grep -q '^  syscall-counts \[comm\]  *system-wide syscall counts$' out || fail "$(cat out)"
command perf script -l >list 2>/dev/null
[ -z "$(grep -vxFf list out)" ] || fail "not in perf's list: $(grep -vxFf list out)"
# Their own programs run tacho as perf.
tacho script record syscall-counts -o named.data -- ls / >/dev/null 2>&1 || fail "script record"
tacho script report syscall-counts -i named.data >out 2>err || fail "$(cat err)"
grep -q '^event  *count' out || fail "$(cat out)"
tacho script syscall-counts ls / >out 2>err || fail "$(cat err)"
grep -q '^event  *count' out || fail "live: $(cat out err)"
[ "$(status_of tacho script nosuch)" = 129 ] && grep -q "no script 'nosuch'" err || fail "$(cat err)"
