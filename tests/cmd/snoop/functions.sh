# run: plain alone
# Alone: without BPF the kernel loses events of ending tasks, such as the switch to the next one, so that a loaded machine counts less.
# funccount, funclatency, stackcount and argdist on functions of a program, of libc, and on tracepoints.
. "$SUPPORT/lib.sh"
. "$SUPPORT/views.sh"
need_views
[ -d /sys/bus/event_source/devices/uprobe ] || skip "this kernel has no uprobes"
for way in $ways; do
	view $way funccount "$WORK:twice" "$WORK:factorial" c:usleep -- "$WORK" functions 12
	is twice "$(rows 'function == "twice"' count)" 12
	is factorial "$(rows 'function == "factorial"' count)" 5
	is usleep "$(rows 'function == "usleep"' count)" 17
	view $way funccount "$WORK:*i*e" -- "$WORK" functions 3
	is "pattern" "$(rows 'function == "twice"' count)" 3
	view $way funccount 't:syscalls:sys_enter_get*pid' -- "$TEST_BIN/calls" ggpp
	is "tracepoint getpid" "$(rows 'function == "syscalls:sys_enter_getpid"' count)" 2
	is "tracepoint getppid" "$(rows 'function == "syscalls:sys_enter_getppid"' count)" 2

	view $way funclatency "$WORK:twice" -- "$WORK" functions 12
	is "calls" "$(rows True count)" 12
	is "of a millisecond" "$(rows True 'sum(h["count"] for h in histogram if h["from"] >= 524288)')" 12
	view $way funclatency -m --by function "$WORK:factorial" -- "$WORK" functions 0
	is "recursion" "$(rows 'function == "factorial"' count)" 5
	is "time of recursion" "$(rows True 'total_ns >= 15000000')" True

	view $way stackcount "$WORK:factorial" -- "$WORK" functions 0
	is "stacks" "$(rows 'user_stack[:1] == ["factorial"]' count | wc -l)" 5
	is "deepest" "$(rows 'user_stack[:6] == ["factorial"] * 5 + ["work_functions"]' count)" 1
	view $way stackcount t:syscalls:sys_enter_getpid -- "$TEST_BIN/calls" gggg
	is "calls by stack" "$(rows True count | awk '{ n += $1 } END { print n }')" 4

	view $way argdist "p:$WORK:twice(int n, long unused):int:n" -- "$WORK" functions 16
	is "histogram" "$(rows True '[h["count"] for h in histogram]')" "[2, 2, 4, 8]"
	view $way argdist --totals "r:$WORK:twice(int n):int,int:\$entry(n),\$retval:\$retval>=20" -- "$WORK" functions 16
	is "results" "$(rows 'row["$retval"] == 2 * row["$entry(n)"] and count == 1')" 6
	view $way argdist --totals 't:syscalls:sys_enter_close():u32:args->fd' -- "$WORK" open 9
	is "fields" "$(rows 'row["args->fd"] == 3' count)" "$(rows 'row["args->fd"] == 3 and count >= 9' count)"
	view $way argdist "r:$WORK:twice():u64:\$latency:\$latency>1" -- "$WORK" functions 4
	is "latency" "$(rows True count)" 4
done
