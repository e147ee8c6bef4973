# Recordings that no kernel makes: every view ends with a status and in bounded memory, and what can be read is shown.
. "$SUPPORT/lib.sh"
need python3
try() {	# WORDS...: a view of hostile.data
	status=$(status_of timeout 30 tacho sched "$@" -i hostile.data)
	[ "$status" -lt 2 ] || fail "$kind: $*: status $status: $(tail -n 20 err)"
	! grep -qE 'Sanitizer|runtime error' err || fail "$kind: $*: $(head -n 20 err)"
	[ "$status" = 0 ] || [ -s err ] || fail "$kind: $*: fails without a word"
	[ "$(wc -c <out)" -lt 100000000 ] || fail "$kind: $*: writes $(wc -c <out) bytes"
}
for kind in plain big cpus offsets sizes tids times cut long many "cpus tids times" "big offsets cut" "long cut tids"; do
	python3 "$SUPPORT/sched-recording" hostile.data $kind
	try latency
	try latency -p --percentiles --json
	try timehist -w -M -V -n --state --show-prio -P -S
	try timehist -I -S
	try timehist --json -w -M
	try timehist -s --time 1.001,1.01
	try map
	try map --compact --task-name task --fuzzy-name
	try export -f perfetto
	try export -f ftrace
	try export -f chrome
	python3 -c "import json; json.load(open('out'))" || fail "$kind: not JSON"
done
kind=plain
python3 "$SUPPORT/sched-recording" hostile.data
try timehist
grep -qE '^ +1\.002000 \[0000\]  task11\[11\] +0\.000 +0\.500 +1\.000 $' out || fail "$(cat out)"
python3 "$SUPPORT/sched-recording" big.data big
tacho sched timehist -w -M -i big.data >big.txt
tacho sched timehist -w -M -i hostile.data | diff - big.txt || fail "the other byte order"
kind=many
python3 "$SUPPORT/sched-recording" hostile.data many
[ "$(status_of tacho sched replay -i hostile.data)" = 1 ] && grep -q 'more than 8000 tasks' err || fail "replay: $(cat err)"
python3 "$SUPPORT/sched-recording" hostile.data cut
[ "$(status_of tacho sched timehist -i hostile.data)" = 1 ] && grep -q 'the file ends within a record' err && [ "$(wc -l <out)" -ge 5 ] ||
	fail "cut: $(cat out err)"
# A field of a format that is outside of the samples.
python3 "$SUPPORT/sched-recording" hostile.data offsets
[ "$(status_of tacho sched latency -i hostile.data)" = 0 ] && grep -q 'records are damaged' err || fail "offsets: $(cat err)"
# Times: a sleep of years is not replayed; a recording without switches does not become an empty trace without a word.
python3 - <<'P'
import os, sys
sys.path.insert(0, os.environ['SUPPORT'])
from tracepoints import Recording
SWITCH = [('char[16]', 'prev_comm'), ('pid_t', 'prev_pid'), ('int', 'prev_prio'), ('long', 'prev_state'),
          ('char[16]', 'next_comm'), ('pid_t', 'next_pid'), ('int', 'next_prio')]
WAKING = [('char[16]', 'comm'), ('pid_t', 'pid'), ('int', 'prio'), ('int', 'target_cpu')]
r = Recording()
switch = r.event('sched:sched_switch', SWITCH)
waking = r.event('sched:sched_waking', WAKING)
def sw(t, a, state, b):
    r.sample(switch, 0, a, a, t, prev_comm='a%d' % a, prev_pid=a, prev_prio=120, prev_state=state, next_comm='a%d' % b, next_pid=b, next_prio=120)
sw(1000000, 0, 0, 7)
sw(2000000, 7, 1, 0)
r.sample(waking, 0, 0, 0, 10 ** 17, fields={'comm': 'a7', 'pid': 7, 'prio': 120, 'target_cpu': 0})
sw(10 ** 17 + 1000, 0, 0, 7)
sw(10 ** 17 + 2000, 7, 1, 0)
r.write('years.data')
r = Recording()
waking = r.event('sched:sched_waking', WAKING)
for i in range(3):
    r.sample(waking, 0, 0, 0, 1000 * i + 1000, fields={'comm': 'a7', 'pid': 7, 'prio': 120, 'target_cpu': 0})
r.write('wakeups.data')
P
[ "$(status_of tacho sched replay -i years.data)" = 1 ] && grep -q 'task 7 would sleep for more than an hour' err || fail "years: $(cat err)"
tacho sched replay -r 1 -i years.data --time 0,1 >out || fail "a part of the years"
for format in perfetto ftrace chrome; do
	[ "$(status_of tacho sched export -f $format -i wakeups.data -o x.$format)" = 0 ] && grep -q 'has no event sched:sched_switch' err || fail "$format: $(cat err)"
	[ "$(status_of tacho sched export -f $format -i years.data --time 5,6 -o x.$format)" = 1 ] &&
		grep -q 'in this time the recording has no event sched:sched_switch, so the trace is empty' err || fail "$format: $(cat err)"
done
