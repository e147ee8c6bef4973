# proves: the function tracers: calls, stacks, durations of a known sleep, histograms and profiles of functions
# proves: every setting is restored: at the end, after kill -9, and by the next start if the process that restores was killed too
# proves: before Linux 6.11 the function graph tracer of the machine is used, and left alone if another program uses it
# guest: arch=amd64 kernel=bullseye
# guest: arch=amd64 kernel=bookworm
# guest: arch=amd64 kernel=sid
t=/sys/kernel/tracing

state() {	# what may have been changed
	for file in current_tracer tracing_on set_ftrace_pid set_ftrace_notrace_pid set_ftrace_filter set_ftrace_notrace \
		set_graph_function set_graph_notrace max_graph_depth tracing_thresh tracing_cpumask buffer_size_kb trace_clock \
		set_event options/sleep-time options/funcgraph-irqs options/function-fork options/funcgraph-proc \
		options/funcgraph-abstime options/latency-format options/irq-info options/func_stack_trace; do
		echo "$file $(cat $t/$file | tr '\n' ' ')"
	done
	ls $t/instances /run
	grep -v '^#' $t/trace | head -n 2
}

is_restored() {	# WHAT: in ten seconds at most
	for try in 1 2 3 4 5 6 7 8 9 10; do
		state >/tmp/after
		! cmp -s /tmp/before /tmp/after || break
		sleep 1
	done
	diff /tmp/before /tmp/after && echo "$1: restored"
}

is_tracing() {	# waits until a session is complete
	for try in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
		if [ "$(cat $t/current_tracer)" = function_graph ] && [ "$(cat $t/tracing_on)" = 1 ]; then return; fi
		for dir in $t/instances/*; do
			[ -e "$dir/tracing_on" ] || continue
			if [ "$(cat $dir/current_tracer)" = function_graph ] && [ "$(cat $dir/tracing_on)" = 1 ]; then return; fi
		done
		sleep 0.5
	done
	echo 'no session was started'
}

# The first session makes the kernel's buffers as large as they will be.
tacho ftrace trace -t function_graph -T do_nanosleep true >/dev/null
tacho ftrace trace -T do_nanosleep true >/dev/null
state >/tmp/before

echo '--- calls'
tacho ftrace -F '__x64_sys_clock_nanosleep'
tacho ftrace trace -t function_graph -G do_nanosleep -T '*nanosleep' -T schedule sleep 0.1 | sed -n 's/^ .*|  //p'
tacho ftrace trace -t function_graph -T '*nanosleep' --graph-opts verbose sleep 0.1 >out
grep -c 'sleep-.* do_nanosleep() {$' out
grep -c '@ 1[0-4][0-9]*\.[0-9]* us *| *}' out
tacho ftrace trace -T '*nanosleep' sleep 0.1 | grep -o 'do_nanosleep <-hrtimer_nanosleep'
tacho ftrace trace -T do_nanosleep --func-opts call-graph sleep 0.1 | grep -o '=> hrtimer_nanosleep'
tacho ftrace trace -D 1000 -T do_nanosleep --inherit sh -c 'sleep 0.1; sleep 2; sleep 0.1' | grep -c do_nanosleep

echo '--- durations'
tacho ftrace latency -T do_nanosleep --inherit --hide-empty sh -c 'sleep 0.1; sleep 0.3' >out
sed -n 's/ *|/|/g; /###/p; /count:/p' out
tacho ftrace latency -n -T do_nanosleep --inherit --json sh -c 'sleep 0.1; sleep 0.1' >out
sed 's/.*"count": \([0-9]*\), "lost": \([0-9]*\).*/count \1, lost \2/' out
near 'mean' "$(sed 's/.*"total_ns": \([0-9]*\).*/\1/' out)" 200000000 25
tacho ftrace latency -e syscalls:sys_enter_clock_nanosleep,syscalls:sys_exit_clock_nanosleep --json sleep 0.1 >out
near 'between events' "$(sed 's/.*"total_ns": \([0-9]*\).*/\1/' out)" 100000000 25
tacho ftrace profile -T '*nanosleep' sleep 0.1 | awk 'NR > 1 { print $4, $5, ($1 >= 100000 && $1 < 150000) }' | sort
tacho ftrace profile --graph-opts depth=4 sleep 0.1 >out
grep -c ' 1   __x64_sys_clock_nanosleep$' out
grep -c ' dequeue_task' out || true
tacho ftrace profile -G do_nanosleep -T do_nanosleep -T schedule -T vfs_read -s name sleep 0.1 | awk 'NR > 1 { print $4, $5 }'
tacho ftrace profile -a -T '*nanosleep' sleep 0.2 | grep -o ' 1   do_nanosleep$'
is_restored 'after all that'

echo '--- refusals'
tacho ftrace trace -T no_such_function true || echo "status $?"
tacho ftrace trace -p 99999 || echo "status $?"
tacho ftrace trace no-such-program >/dev/null || echo "status $?"
is_restored 'after refusals'

echo '--- killed'
session="tacho ftrace trace -a --graph-opts depth=3,nosleep-time,thresh=5 -G vfs_read -T vfs_read -T vfs_write -C 0"
$session >/dev/null &
pid=$!
is_tracing
kill -9 $pid
is_restored 'killed'
$session >/dev/null &
pid=$!
is_tracing
helper=$(ps | awk '/[f]trace-restore/ { print $1 }')
kill -STOP $helper
kill -9 $pid $helper
sleep 1
state >/tmp/after
cmp -s /tmp/before /tmp/after || echo 'changes are left when both are killed'
tacho ftrace trace -T do_nanosleep true >/dev/null
is_restored 'after the next start'

echo '--- another user'
echo function >$t/current_tracer
tacho ftrace trace -t function_graph -T do_nanosleep sleep 0.1 >out 2>err || true
mkdir $t/instances/own
if grep -q function_graph $t/instances/own/available_tracers; then
	grep -q 'do_nanosleep()' out && echo 'both at a time'
else
	grep -q 'current_tracer is in use by another program' err && echo 'one at a time'
fi
rmdir $t/instances/own
cat $t/current_tracer
echo nop >$t/current_tracer
echo vfs_read >$t/set_graph_function
tacho ftrace trace -G do_nanosleep sleep 0.1 || echo "status $?"
cat $t/set_graph_function
