# Filters of tracepoints are checked against the format before the event is opened, and errors have a position.
. "$SUPPORT/lib.sh"
need_root
[ -r /sys/kernel/tracing/events/sched/sched_switch/format ] || skip "no tracefs"
refused() {	# FILTER COLUMN MESSAGE
	tacho stat -e sched:sched_switch --filter "$1" -a true 2>err && fail "accepted: $1"
	grep -q -- "$3" err || fail "$1: $(cat err)"
	[ "$(grep -n '\^' err | cut -d^ -f1 | sed 's/^[0-9]*://' | tr -d '\n' | wc -c)" = $(($2 + 11)) ] || fail "$1: the caret: $(cat err)"
}
refused 'prev_cmm == "x"' 0 "did you mean 'prev_comm'?"
refused 'nothing == 1' 0 'its fields are prev_comm, prev_pid'
refused 'prev_pid > ' 11 'a number or a string is missing'
refused 'prev_pid > 10 && (prev_prio == 1' 17 'the parenthesis is not closed'
refused 'prev_pid ~ "1"' 9 '~ compares strings'
refused 'prev_comm > "x"' 10 'a string is compared by'
refused 'prev_comm == tar' 13 'a string needs quotes'
refused 'prev_pid == "1"' 13 'this field is a number'
refused 'prev_pid = 3' 9 'an operator is missing'
refused 'prev_pid == 1 prev_prio == 2' 14 '&& or || is missing'
refused 'prev_comm == "x' 13 'the string does not end'
tacho stat -e sched:sched_switch --filter "$(printf 'prev_pid==1||%.0s' $(seq 400))prev_pid==1" -a true 2>err &&
	fail "a filter of 5 kB is accepted"
grep -q 'longer than the 4095 bytes' err || fail "$(head -c 300 err)"
for filter in 'prev_comm ~ "tar*"' 'prev_pid == 0x1f && !(prev_prio > 3 || next_comm != "a")' 'common_pid != 1' 'prev_pid & 1' \
	'comm == "x"' 'cpu == 0' 'prev_state == -1' "prev_comm == 'x'"; do
	tacho stat -e sched:sched_switch --filter "$filter" -a true 2>err || fail "$filter: $(cat err)"
	! grep -q 'filter' err || fail "$filter: $(cat err)"
done
