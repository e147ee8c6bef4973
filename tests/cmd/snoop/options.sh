# Filters, intervals, ends and outputs of snoop; what is refused, with its reason.
. "$SUPPORT/lib.sh"
. "$SUPPORT/views.sh"
need_views
tacho snoop --list >list
[ "$(wc -l <list)" = 20 ] || fail "$(cat list)"
"$WORK" pingpong 1 >/dev/null
for way in $ways; do
	no=${way#--bpf}
	sh -c 'while :; do /bin/true; done' &
	busy=$!
	view $way syscount -p $busy -n 2 -i 0.2
	is "one process: processes forked by it are left out" "$(rows 'call == "execve"')" 0
	at_least "rows of a process" "$(rows 'call in ("clone", "vfork", "wait4", "clone3")')" 1
	view $way exec -n 3
	is "rows" "$(rows True)" 3
	tacho snoop runqlat $no 0.1 3 --totals >text
	is "intervals" "$(grep -c 'COUNT' text)" 3
	tacho snoop syscount $no --json -d 0.2 -T >text
	kill $busy
	wait $busy 2>/dev/null || true

	setpriv --reuid 65534 --clear-groups sleep 3 &
	tacho snoop syscount $no -u 65534 --json -o rows.json -- setpriv --reuid 65534 --clear-groups "$TEST_BIN/calls" gg
	is "user" "$(rows 'call == "getpid"' count)" 2
	tacho snoop syscount $no -u 65533 --json -o rows.json -- "$TEST_BIN/calls" gg
	is "another user" "$(rows 'call == "getpid"')" 0

	# Ctrl-C prints what was collected.
	tacho snoop syscount $no -o text &
	snoop=$!
	wait_for 10 heeds $snoop
	sleep 0.5
	"$TEST_BIN/calls" g
	sleep 0.3
	kill -INT $snoop
	wait $snoop || fail "status $? after SIGINT"
	grep -q '^SYSCALL' text || fail "nothing after SIGINT: $(cat text)"

	# -p ends with the processes.
	sleep 0.5 &
	tacho snoop open $no -p $! >text
done

refused "129" tacho snoop
grep -q "which view? 'tacho snoop --list' lists them" err || fail "$(cat err)"
refused 129 tacho snoop exce
grep -q "did you mean 'exec'?" err || fail "$(cat err)"
refused 129 tacho snoop funccount
grep -q 'funccount needs a function or a tracepoint' err || fail "$(cat err)"
refused 129 tacho snoop exec -i 1
grep -q 'it has no intervals' err || fail "$(cat err)"
refused 129 tacho snoop qqqqqqqq
grep -q "'tacho snoop --list' lists them" err || fail "$(cat err)"
for option in --totals -T --max-rows=10; do
	refused 129 tacho snoop exec $option
	grep -q 'it has no sums' err || fail "$(cat err)"
done
for no in '' --no-bpf; do
	refused 129 timeout 10 tacho snoop syscount $no --min 1
	grep -q 'syscount has no times here' err || fail "$(cat err)"
	refused 129 timeout 10 tacho snoop exit $no --min 1
	timeout 10 tacho snoop open $no --min 1 -d 0.1 >text 2>err || fail "$(cat err)"
	timeout 10 tacho snoop syscount $no --totals --min 1 -d 0.1 >text 2>err || fail "$(cat err)"
done
refused 129 tacho snoop runqlat --by disk
grep -q 'its keys are process,thread' err || fail "$(cat err)"
refused 129 tacho snoop irqlat -p 1
grep -q 'its events belong to none' err || fail "$(cat err)"
refused 129 tacho snoop exec --svg
grep -q 'no histogram' err || fail "$(cat err)"
refused 129 tacho snoop runqlat --totals -m
grep -q 'no unit to choose' err || fail "$(cat err)"
refused 129 tacho snoop funccount c:no_such_function_here
refused 129 tacho snoop funccount nolibrary-here:f
grep -q "no library or program is called 'nolibrary-here'" err || fail "$(cat err)"
refused 129 tacho snoop argdist 'p:c:write'
grep -q 'has no signature' err || fail "$(cat err)"
refused 129 tacho snoop argdist 'p:c:write(int fd):integer:fd'
grep -q "the type 'integer' is not known" err || fail "$(cat err)"
refused 129 tacho snoop argdist 'p:c:write(int fd):int:$retval'
grep -q "'\$retval' is not understood" err || fail "$(cat err)"
refused 129 tacho snoop argdist 't:sched:sched_switch():int:args->prev_pit'
grep -q "did you mean 'prev_pid'?" err || fail "$(cat err)"
refused 129 tacho snoop argdist 'p:c:write(int fd):int:fd:fd~3'
grep -q "the filter 'fd~3' is not understood" err || fail "$(cat err)"
refused "1 129" tacho snoop open -p 4000000
grep -q 'there is no process 4000000' err || fail "$(cat err)"
[ -d /sys/bus/event_source/devices/kprobe ] || {
	refused "1 129" tacho snoop funccount vfs_read
	grep -q 'this kernel has no kprobes' err || fail "$(cat err)"
}
HOME=/ refused 1 unprivileged "$BUILD/tacho" snoop runqlat
grep -q CAP_PERFMON err || fail "$(cat err)"
HOME=/ refused 1 unprivileged "$BUILD/tacho" snoop exec
grep -q 'CAP_BPF' err || fail "$(cat err)"
