# What cannot be traced is refused with one message, and leaves nothing behind.
. "$SUPPORT/lib.sh"
need_root
need_tracefs
events=syscalls:sys_enter_clock_nanosleep,syscalls:sys_exit_clock_nanosleep
refused 129 tacho ftrace latency true
refused 129 tacho ftrace latency -T vfs_read -e "$events" true
refused 129 tacho ftrace latency -e sched:sched_switch true
refused 129 tacho ftrace latency -e "$events" --min-latency=5 true
refused 129 tacho ftrace latency -e "$events" --max-latency=5 true
refused 129 tacho ftrace latency -e "$events" --bucket-range=10 --min-latency=30 --max-latency=20 true
refused 129 tacho ftrace latency -e "$events" -C 0-x true
refused 129 tacho ftrace latency -e "$events" -p 0
refused 129 tacho ftrace latency -e "$events" -p 1 --tid 1
refused 129 tacho ftrace latency -b -T vfs_read true
refused 129 tacho ftrace profile -s size true
refused 129 tacho ftrace profile -m 12 true
refused 129 tacho ftrace trace --graph-opts nonsense true
grep -q 'use args, retval' err || fail "no list of the options: $(cat err)"
refused 129 tacho ftrace trace --func-opts depth=3 true
refused 129 tacho ftrace trace --graph-opts depth=0 true
refused '1 129' tacho ftrace latency -e no:such,event:here true
refused '1 129' tacho ftrace latency -e ../../x:y,a:b true
refused 1 tacho ftrace latency -e "$events" -p 4194303
refused 127 tacho ftrace latency -e "$events" no-such-program
refused 1 tacho ftrace trace -t no_such_tracer true
# A kernel without a function tracer, or one that forbids it, is reported in one sentence.
if tacho ftrace trace -t function -T vfs_read true >out 2>err; then
	echo "this kernel can trace functions"
else
	refused 1 tacho ftrace trace -t function -T vfs_read true
	refused 1 tacho ftrace trace true
	refused 1 tacho ftrace latency -T vfs_read true
	refused 1 tacho ftrace profile true
fi
ls /sys/kernel/tracing/instances | grep "^tacho-$$-" && fail "instances are left"
# Without rights: which file, and what would help.
cd /
unprivileged tacho ftrace latency -e "$events" true >/dev/null 2>"$OLDPWD/err" && fail "an unprivileged user may trace"
grep -q 'permission denied' "$OLDPWD/err" && grep -q 'run as root, or let a group use it' "$OLDPWD/err" || fail "$(cat "$OLDPWD/err")"
unprivileged tacho ftrace -F >/dev/null 2>"$OLDPWD/err" && fail "an unprivileged user may list functions"
grep -q 'available_filter_functions cannot be read: permission denied' "$OLDPWD/err" || fail "$(cat "$OLDPWD/err")"
