# Keys of tracepoints: their text, single fields, all fields, raw or formatted; and the default keys of recordings that have
# only tracepoints. perf shows the same.
# run: slow
. "$SUPPORT/lib.sh"
need perf
need_root
need_tracefs
tacho record -q -e sched:sched_switch -o one.data sh -c 'for i in 1 2 3 4 5; do sleep 0.01; done' \
	2>err || skip "cannot record tracepoints here: $(cat err)"
tacho record -q -a -e sched:sched_switch,sched:sched_wakeup -o two.data \
	sh -c 'for i in 1 2 3 4 5; do sleep 0.01; done'
same() {	# FILE OPTION...
	perf report --stdio --no-inline -i "$@" </dev/null 2>/dev/null | grep -v 'Tip:' >perf.txt
	tacho report --stdio -i "$@" </dev/null 2>err | grep -v 'Tip:' >tacho.txt
	[ "$(grep -c '%' tacho.txt)" -gt 0 ] || { cat err; fail "nothing: $*"; }
	diff perf.txt tacho.txt || fail "not the same: $*"
}
for file in one two; do
	for options in "" "-s trace" "-s trace,comm" "-s next_comm,prev_state" "-s cpu,next_pid" \
		"-s sched:sched_switch.next_comm,prev_state,next_pid" "-s trace_fields" "-s sched_switch.*" \
		"-s comm,sched_switch.next_pid" \
		"-s next_pid --raw-trace" "-s trace --raw-trace" "-s cpu,socket,comm"; do
		same $file.data $options
	done
done
same one.data --raw-trace
# perf truncates the text of a tracepoint after a long command name.
tacho record -q -e sched:sched_switch,cpu-clock -F 2000 -d -o mixed.data \
	sh -c 'i=0; while [ $i -lt 20000 ]; do i=$((i + 1)); done; sleep 0.01'
for options in "-s trace" "-s prev_comm,comm" "-s addr" "-s weight,addr"; do
	same mixed.data $options
done
refused 129 tacho report -i one.data -s nextcomm
refused 129 tacho report -i one.data -s sched:sched_wakeup.next_comm
refused 129 tacho report -i one.data -s comm,nosuch.*
