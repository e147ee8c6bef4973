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
sleep 0.3
kill -INT $pid
wait $pid || [ $? = 130 ] || fail "status after SIGINT"
grep -q ',cs,' rows || fail "nothing printed at SIGINT: $(cat rows)"
tacho stat -x, -e task-clock sleep 20 2>rows &
pid=$!
sleep 0.3
kill -TERM $pid
wait $pid || [ $? = 143 ] || fail "status after SIGTERM"
grep -q ',task-clock,' rows || fail "nothing printed at SIGTERM: $(cat rows)"
# A command that does not end at the first signal is killed at the second.
tacho stat -x, -e task-clock sh -c 'trap "" INT TERM; while :; do sleep 0.05; done' 2>rows &
pid=$!
sleep 0.3
kill -INT $pid
sleep 0.2
kill -0 $pid || fail "did not wait for the command"
kill -INT $pid
( sleep 5; kill -KILL $pid ) 2>/dev/null &
wait $pid || [ $? = 130 ] || fail "status after the second SIGINT"
grep -q ',task-clock,' rows || fail "nothing printed at the second SIGINT: $(cat rows)"
# When the process that is counted ends, so does the counting; with several, the last one.
sleep 0.3 &
first=$!
sleep 0.6 &
second=$!
start=$(date +%s%N)
timeout 20 tacho stat -x, -e task-clock,duration_time -p $first,$second 2>rows || fail "-p: status $?"
took=$(($(date +%s%N) - start))
[ $took -ge 400000000 ] || fail "ended after $took ns, with the first process"
grep -q '^[0-9.]*,msec,task-clock,' rows || fail "ended process: $(cat rows)"
sleep 0.2 &
timeout 20 tacho stat -I 50 -x, -e task-clock -t $! 2>rows || fail "-t: status $?"
