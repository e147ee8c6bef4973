# perf reads recordings of the whole machine, of tracepoints, groups and cgroups.
# run: slow
. "$SUPPORT/lib.sh"
. "$SUPPORT/record.sh"
need perf
need_root
need_tracefs
perf_reads all cpu-clock -a -e cpu-clock sh -c "$LOOP"
perf_reads chains cpu-clock -a -g -e cpu-clock sh -c "$LOOP"
perf_reads cpu cpu-clock -C 0 -e cpu-clock sh -c "$LOOP"
perf_reads cgroups cpu-clock -a -e cpu-clock --all-cgroups --namespaces sh -c "$LOOP"
perf_reads cgroup cpu-clock -a -e cpu-clock -G / sh -c "$LOOP"
perf_reads trace raw_syscalls:sys_enter -e raw_syscalls:sys_enter ls /
perf script -i trace 2>/dev/null | grep -q 'raw_syscalls:sys_enter: NR [0-9]* (' || fail "no fields"
perf_reads two sched:sched_switch,raw_syscalls:sys_enter \
	-a -m 4M -e sched:sched_switch,raw_syscalls:sys_enter --exclude-perf sleep 0.1
perf_reads filtered raw_syscalls:sys_enter -e raw_syscalls:sys_enter --filter 'id == 1' sh -c 'echo; echo'
[ "$(perf script -i filtered 2>/dev/null | grep -vc 'NR 1 (')" = 0 ] || fail "the filter let others pass"
perf_reads mixed cpu-clock,raw_syscalls:sys_enter -e cpu-clock,raw_syscalls:sys_enter sh -c "$LOOP"
perf_reads group page-faults,context-switches -e '{page-faults,context-switches}' ls /
# The period of a tracepoint is respected; perf records every event.
tacho record -q -e raw_syscalls:sys_enter -c 10 -o tenth dd if=/dev/zero of=/dev/null bs=1 count=2000 2>/dev/null
within 20 "$(perf_samples tenth)" 400
