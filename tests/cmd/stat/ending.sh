# How runs end: the command's status is passed on, signals too; Ctrl-C and --timeout still
# print what was counted.
. "$SUPPORT/lib.sh"
for status in 0 3 255; do
	[ "$(status_of tacho stat -e cs sh -c "exit $status")" = $status ] || fail "status $status"
done
[ "$(status_of tacho stat -e cs sh -c 'kill -KILL $$')" = 137 ] || fail "killed command"
[ "$(status_of tacho stat -e cs ./nothing-here)" = 127 ] || fail "no such command"
[ "$(status_of tacho stat --timeout 100 -x, -e task-clock sleep 20)" = 143 ] || fail "timed-out command"
grep -q ',task-clock,' err || fail "nothing printed at the time-out: $(cat err)"
tacho stat -a -x, -e cs 2>rows &
pid=$!
wait_for 20 heeds $pid
wait_for 20 is_counting $pid
sleep 0.3
kill -INT $pid
wait $pid || [ $? = 130 ] || fail "status after SIGINT"
grep -q ',cs,' rows || fail "nothing printed at SIGINT: $(cat rows)"
tacho stat -x, -e task-clock "$TEST_BIN/spin" -r runs -t 60 2>rows &
pid=$!
wait_for 20 test -e runs
kill -TERM $pid
wait $pid || [ $? = 143 ] || fail "status after SIGTERM"
grep -q ',task-clock,' rows || fail "nothing printed at SIGTERM: $(cat rows)"
has_taken_int() {	# PID: no SIGINT waits for it
	! grep -q '^S[a-z]*Pnd:.*[2367abef]$' "/proc/$1/status"
}
# A command that does not end at the first signal is killed at the second.
tacho stat -x, -e task-clock sh -c 'trap "" INT TERM; touch deaf; while :; do sleep 0.05; done' 2>rows &
pid=$!
wait_for 20 test -e deaf
kill -INT $pid
wait_for 20 has_taken_int $pid	# two that wait are one
sleep 0.2
kill -0 $pid || fail "did not wait for the command"
kill -INT $pid
( sleep 20; kill -KILL $pid ) 2>/dev/null &
wait $pid || [ $? = 130 ] || fail "status after the second SIGINT"
grep -q ',task-clock,' rows || fail "nothing printed at the second SIGINT: $(cat rows)"
# Counting ends when the last of the counted processes has ended.
sleep 60 &
first=$!
sleep 60 &
second=$!
tacho stat -x, -e task-clock,duration_time -p $first,$second 2>rows &
pid=$!
wait_for 20 is_counting $pid 2
kill $first
wait $first || true
sleep 0.3
kill -0 $pid || fail "ended with the first process: $(cat rows)"
kill $second
( sleep 20; kill -KILL $pid ) 2>/dev/null &
wait $pid || fail "-p: status $?"
grep -q '^[0-9.]*,msec,task-clock,' rows || fail "ended process: $(cat rows)"
sleep 60 &
first=$!
tacho stat -I 50 -x, -e task-clock -t $first 2>rows &
pid=$!
wait_for 20 is_counting $pid
kill $first
( sleep 20; kill -KILL $pid ) 2>/dev/null &
wait $pid || fail "-t: status $?"
