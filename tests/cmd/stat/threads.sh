# -p counts every thread of a process that runs already, -t one, --per-thread tells them apart.
# run: both
. "$SUPPORT/lib.sh"
"$TEST_BIN/burn" -t 4 -p 0 -m 10000 >burn.out &
pid=$!
while [ "$(ls /proc/$pid/task | wc -l)" -lt 4 ]; do sleep 0.02; done
tacho stat --per-thread -x, -e task-clock -p $pid --timeout 300 2>rows
n=$(ls /proc/$pid/task | wc -l)
[ "$(wc -l <rows)" -ge 4 ] || fail "rows: $(cat rows)"
grep -q "^burn-[0-9]*,[0-9.]*,msec,task-clock," rows || fail "names: $(cat rows)"
# The CPU time that all threads used meanwhile, in ticks of 10 ms. While the hypervisor has descheduled a CPU,
# the counters advance and /proc does not: hence several tries.
for try in 1 2 3 4 5; do
	before=$(used_ms $pid)
	tacho stat -x, -e task-clock -p $pid --timeout 300 2>rows
	used=$(($(used_ms $pid) - before))
	[ "$(wc -l <rows)" = 1 ] || fail "rows: $(cat rows)"
	! awk -v v="$(csv_value task-clock rows)" -v u=$used 'BEGIN { exit !(v > u / 2 - 20 && v < u + 40) }' ||
		break
	[ $try -lt 5 ] || fail "$used ms were used: $(cat rows)"
done
tid=$(ls /proc/$pid/task | tail -n 1)
tacho stat -e task-clock -t $tid --timeout 50 2>text
grep -q " Performance counter stats for thread id '$tid':" text || fail "$(cat text)"
kill $pid
# If a process ends, its counts until then are shown.
"$TEST_BIN/spin" -c 60 &
pid=$!
tacho stat -x, -e task-clock -p $pid sh -c 'touch runs; until [ -e over ]; do sleep 0.05; done' 2>rows &
tacho=$!
wait_for 20 test -e runs
burns $pid 50
kill $pid
wait $pid || true
sleep 0.3
kill -0 $tacho || fail "ended with the process: $(cat rows)"
touch over
wait $tacho || fail "ended process: status $?"
awk -F, '{ exit !($1 > 20) }' rows || fail "ended process: $(cat rows)"
# Threads that have ended meanwhile are shown with their names.
"$TEST_BIN/burn" -t 2 -p 0 -m 60000 >burn.out &
pid=$!
while [ "$(ls /proc/$pid/task | wc -l)" -lt 3 ]; do sleep 0.01; done
tacho stat --per-thread -x, -e task-clock -p $pid 2>rows &
tacho=$!
wait_for 20 is_counting $tacho 3
kill $pid
wait $tacho || fail "ended threads: status $?"
awk -F, '$1 !~ /^burn-[0-9]+$/ { exit 1 }' rows || fail "names of ended threads: $(cat rows)"
# -p with -a counts the process, with a warning about -a; -A is refused.
sleep 5 &
pid=$!
tacho stat -a -x, -e task-clock -p $pid true 2>rows
grep -q -- '-a is ignored' rows || fail "-a -p: $(cat rows)"
[ "$(status_of tacho stat -a -A -e task-clock -p $pid true)" = 129 ] || fail "-A -p: $(cat err)"
kill $pid
