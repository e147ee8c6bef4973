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
