# Fields of tracepoints by name in -F: alone, with perf's fields, of one event, by pattern, added and removed, in a pipe;
# their values are those of the tracepoint's text.
. "$SUPPORT/lib.sh"
need_root
need_tracefs
tacho record -q -e sched:sched_switch,sched:sched_process_fork -c 1 -o a.data sh -c '(sleep 0.01); (sleep 0.01); :' 2>err ||
	skip "cannot record tracepoints here: $(cat err)"
shown() {	# FIELDS [FILE]: the lines without blanks at their ends
	tacho script -i "${2:-a.data}" -F "$1" | sed 's/^ *//; s/ *$//'
}
tacho script -i a.data -F trace:trace | grep -o 'next_pid=[0-9]*' >want
shown next_pid | grep . >out
[ -s want ] && diff want out || fail "next_pid"
shown sched_switch.next_pid | grep . | diff want - || fail "an event without its system"
shown sched:sched_switch.next_pid | grep . | diff want - || fail "an event with its system"
shown comm,event,next_comm,next_pid >out
grep -Eq '^sh +sched:sched_switch: next_comm=[^=]* next_pid=[0-9]+$' out && grep -Eq '^sh +sched:sched_process_fork:$' out || fail "$(cat out)"
# A field of several events, and only of one of them.
[ "$(shown 'event,*.common_pid' | grep -c 'common_pid=[1-9]')" = "$(shown event | wc -l)" ] || fail "common_pid"
shown 'event,parent_*' | grep -Eq '^sched:sched_process_fork: parent_comm=sh parent_pid=[0-9]+$' || fail "$(shown 'event,parent_*')"
shown 'event,*.*' | grep -q common_ && fail "a pattern has the common fields"
# The number, not its name in the text.
shown 'trace:prev_state' | grep -Eq '^prev_state=[0-9]+$' || fail "$(shown trace:prev_state)"
# + and - change the default; the text of the tracepoint comes first.
tacho script -i a.data -F +next_pid | grep -Eq 'next_prio=[0-9]+ next_pid=[0-9]+$' || fail "+next_pid"
tacho script -i a.data -F +next_pid,-trace | grep -Eq 'sched_switch: next_pid=[0-9]+$' || fail "-trace"
tacho script -i a.data >default
tacho script -i a.data -F +next_pid,-next_pid | diff default - || fail "-next_pid"
# In a pipe the formats come after the events.
tacho record -q -e sched:sched_switch -o - sh -c '(sleep 0.01); :' >pipe
shown next_pid - <pipe | grep -q '^next_pid=[0-9]' || fail "in a pipe"
! tacho script -i - -F nextpid <pipe >out 2>err && grep -q "no field is called 'nextpid'" err || fail "$(cat err)"
for bad in nextpid comm,sched_wakeup.next_pid sw:next_pid next..pid 9x; do
	refused 129 tacho script -i a.data -F "$bad"
	grep -q 'no field is called' err || fail "$bad: $(cat err)"
done
