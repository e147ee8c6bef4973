# What a sample of a group with :S tells besides its values is the leader's: nothing of it is taken for
# the fields of another tracepoint, nor is a CPU made up.
. "$SUPPORT/lib.sh"
need jq
need_root
need_tracefs
forks='(exit 0); (exit 0); (exit 0); (exit 0); :'
tacho record -q -c 1 -e '{sched:sched_process_fork,sched:sched_process_wait}:S' -o a.data sh -c "$forks" 2>err ||
	skip "cannot record tracepoints here: $(cat err)"
tacho script -i a.data -F event,trace | sort -u >lines
grep -q 'wait:' lines || { cat lines; fail "nobody waited"; }
! grep -v child_pid= lines || fail "the fields of another"
tacho script -i a.data --json | jq -r 'select(.event == "sched:sched_process_wait") | .trace_fields | keys[]' | sort -u >fields
grep -q '^child_pid$' fields && ! grep -q '^prio$' fields || { cat fields; fail "JSON"; }
tacho data convert --to-json out.json -i a.data 2>err || fail "$(cat err)"
jq -e '[.samples[] | select(has("prio"))] == []' out.json >/dev/null || fail "convert"

tacho record -q -c 5 -e '{page-faults,sched:sched_process_fork}:S' -o b.data sh -c "$forks" 2>err || fail "$(cat err)"
tacho script -i b.data | grep 'sched_process_fork: *$' >lines || { tacho script -i b.data; fail "no forks, or fields"; }
! grep -vF '[-01]' lines || fail "a CPU that no sample had"
