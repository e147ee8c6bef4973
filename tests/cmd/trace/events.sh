# Tracepoints and page faults between system calls, calls from perf's tracepoints, and recordings of them.
. "$SUPPORT/lib.sh"
need_root
[ -r /sys/kernel/tracing/events/raw_syscalls/sys_enter/format ] || skip "no tracefs"
echo text >file
tacho trace --no-bpf -o got cat file >out
grep -qE 'openat\(dfd: CWD, filename: 0x[0-9a-f]+(, flags: RDONLY)?\) += 3$' got || fail "--no-bpf: $(grep openat got)"
grep -qE 'exit_group\(\) = \?$' got || fail "--no-bpf: no end"
tacho trace --no-bpf -e close -o got cat file >out
grep -q 'close(fd: 3)' got || fail "--no-bpf -e: $(cat got)"
! grep -v close got || fail "--no-bpf -e shows other calls"
tacho trace -e sched:sched_process_exec -o got sh -c 'cat file; true' >out
grep -qE '^ +[0-9.]+ .*cat/[0-9]+ sched:sched_process_exec\(filename: .*/cat, pid: [0-9]+, old_pid: [0-9]+\)$' got || fail "tracepoint: $(cat got)"
if [ -r /sys/kernel/btf/vmlinux ] && grep -q 'enum hrtimer_mode mode' /sys/kernel/tracing/events/timer/hrtimer_start/format 2>/dev/null; then
	tacho trace -e timer:hrtimer_start -o got sleep 0.01 2>err
	! grep -q 'timer:hrtimer_start(' got || grep -q 'mode: HRTIMER_MODE_' got || fail "enumerators: $(cat got)"
fi
tacho trace --no-comm -e syscalls:sys_enter_exit_group -o got true
grep -qE '^ +[0-9]+\.[0-9]+ [0-9]+ syscalls:sys_enter_exit_group\(\)$' got || fail "--no-comm: $(cat got)"
tacho trace -F all -o got cat file >out 2>err
grep -q 'strings are not shown' err || ! grep -q '^ *?' got || fail "-F: calls without a time: $(grep '^ *?' got | head -n 3)"
grep -qE '^ +[0-9.]+ \(         \): cat/[0-9]+ minfault' got || fail "-F: columns: $(grep minfault got | head -n 3)"
tacho trace -F all --no-syscalls -o got cat file >out
grep -qE 'minfault \[0x[0-9a-f]+\] => 0x[0-9a-f]+' got || fail "-F: $(cat got)"
! grep -q openat got || fail "--no-syscalls shows calls"
if tacho trace -e sched:sched_process_exec,openat -o got cat file 2>err >out && ! grep -q 'strings are not shown' err; then
	[ "$(grep -n sched_process_exec got | cut -d: -f1)" -lt "$(grep -n '"file"' got | cut -d: -f1)" ] || fail "order: $(cat got)"
fi

tacho trace record -o calls.data cat file >out 2>err || fail "record: $(cat err)"
tacho trace -i calls.data -o got
grep -qE 'openat\(dfd: CWD, filename: 0x[0-9a-f]+(, flags: RDONLY)?\) += 3$' got || fail "-i: $(head -n 5 got)"
tacho trace -i calls.data -s -o got
grep -qE '^   openat +[0-9]+ +[0-9]+ ' got || fail "-i -s: $(cat got)"
tacho trace --summary-mode cgroup -s -o got cat file >out
grep -qE '^ cgroup (/|\?)' got || fail "cgroup: $(head -n 5 got)"
