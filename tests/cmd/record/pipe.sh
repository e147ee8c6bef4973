# Pipe output: -o -, or stdout is a pipe; the command's own output goes to stderr.
. "$SUPPORT/lib.sh"
. "$SUPPORT/record.sh"
need perf
tacho record -e cpu-clock -o - sh -c "echo words; $LOOP" 2>err >saved
n=$(said err)
[ "${n:-0}" -gt 0 ] || fail "no samples: $(cat err)"
grep -q '^words$' err || fail "the command's output is not on stderr"
[ "$(perf_samples saved)" = "$n" ] || fail "perf reads $(perf_samples saved) of $n"
perf report -i saved --stdio --no-inline 2>/dev/null | grep -q '^ *[0-9.]*%' || fail "no report"
got=$(tacho record -e cpu-clock sh -c "$LOOP" 2>err | perf script -i - -F comm,time,event 2>/dev/null | grep -c cpu-clock)
[ "$got" = "$(said err)" ] || fail "through a pipe: $got of $(said err)"
[ ! -e perf.data ] || fail "a file was written as well"
[ "$(id -u)" != 0 ] || [ ! -r /sys/kernel/tracing/events/syscalls ] || {
	tacho record -e raw_syscalls:sys_enter ls / 2>/dev/null | perf script -i - 2>/dev/null |
		grep -q 'raw_syscalls:sys_enter: NR [0-9]* (' || fail "no fields of a tracepoint"
}
