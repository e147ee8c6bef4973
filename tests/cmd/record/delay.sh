# -D: later, when told, or in ranges of time, after which the recording ends.
. "$SUPPORT/lib.sh"
. "$SUPPORT/record.sh"
need perf
tacho record -e cpu-clock -F 1000 -D 200-300,500-600 -o ranges "$TEST_BIN/spin" -c 30 2>err || [ $? = 143 ]
[ "$(grep -c '^Events enabled$' err)" = 2 ] && [ "$(grep -c '^Events disabled$' err)" = 3 ] ||
	{ cat err; fail "not switched on and off"; }
[ "$(said err)" -gt 0 ] && [ "$(perf_samples ranges)" = "$(said err)" ] || { cat err; fail "no samples"; }
# Nothing in the gap of 200 ms: the longest silence is at least half of it.
gap=$(perf script -i ranges -F time 2>/dev/null | tr -d ' :' |
	awk 'NR > 1 && $1 - last > most { most = $1 - last } { last = $1 } END { print (most > 0.1) }')
[ "$gap" = 1 ] || fail "samples between the ranges"
tacho record -e cpu-clock -D 50 -o late "$TEST_BIN/spin" -c 0.3 -t 0.4 2>err
grep -q '^Events enabled$' err && [ "$(said err)" -gt 0 ] || { cat err; fail "-D 50 records nothing"; }
tacho record -e cpu-clock -D -1 -o never true 2>err
[ "$(said err)" = 0 ] || { cat err; fail "-D -1 records"; }
for wrong in 5-3 5-5 10-20,15-30 x 10- -5 1,2 10-20,; do
	refused 129 tacho record -D "$wrong" true
done
