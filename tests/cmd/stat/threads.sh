# -p counts every thread of a process that runs already, -t one, --per-thread tells them apart.
. "$SUPPORT/lib.sh"
"$TEST_BIN/burn" -t 4 -p 0 -m 3000 >burn.out &
pid=$!
while [ "$(ls /proc/$pid/task | wc -l)" -lt 4 ]; do sleep 0.02; done
tacho stat --per-thread -x, -e task-clock -p $pid --timeout 300 2>rows
n=$(ls /proc/$pid/task | wc -l)
[ "$(wc -l <rows)" -ge 4 ] || fail "rows: $(cat rows)"
grep -q "^burn-[0-9]*,[0-9.]*,msec,task-clock," rows || fail "names: $(cat rows)"
used_ms() {
	awk '{ print ($14 + $15) * 10 }' /proc/$pid/stat
}
before=$(used_ms)
tacho stat -x, -e task-clock -p $pid --timeout 300 2>rows
used=$(($(used_ms) - before))
[ "$(wc -l <rows)" = 1 ] || fail "rows: $(cat rows)"
# What all threads used meanwhile, a little less at both ends; ticks are 10 ms.
awk -v v="$(csv_value task-clock rows)" -v u=$used 'BEGIN { exit !(v > u / 2 - 20 && v < u + 40) }' ||
	fail "$used ms were used: $(cat rows)"
tid=$(ls /proc/$pid/task | tail -n 1)
tacho stat -e task-clock -t $tid --timeout 50 2>text
grep -q " Performance counter stats for thread id '$tid':" text || fail "$(cat text)"
kill $pid
# A process that ends ends nothing: what it did until then is shown.
"$TEST_BIN/spin" -c 0.2 -t 0.2 &
pid=$!
tacho stat -x, -e task-clock -p $pid sleep 0.4 2>rows
awk -F, '{ exit !($1 > 20) }' rows || fail "ended process: $(cat rows)"
