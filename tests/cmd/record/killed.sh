# kill -9 at any moment: what was drained until then can be read.
. "$SUPPORT/lib.sh"
. "$SUPPORT/record.sh"
need perf
tacho record -q -e cpu-clock -F 500 -g -o file "$TEST_BIN/spin" -c 30 &
pid=$!
sleep 2.5
child=$(ps -o pid= --ppid $pid | tr -d ' ')
kill -9 $pid
wait $pid 2>/dev/null || true
kill $child 2>/dev/null || true
n=$(perf script -i file -F comm,time,event 2>/dev/null | grep -c cpu-clock || true)
[ "$n" -gt 20 ] || fail "perf reads $n samples of a killed recorder's file"
