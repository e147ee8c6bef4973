# -D: events start later, by the control channel, or in time ranges, after which the recording ends.
# run: plain alone
. "$SUPPORT/lib.sh"
. "$SUPPORT/record.sh"
need perf
# Retried, because on a busy machine a range may pass without a sample or end late.
ranges_hold() {
	tacho record -e cpu-clock -F 1000 -D 200-300,500-600 -o ranges "$TEST_BIN/spin" -c 30 2>err || [ $? = 143 ]
	[ "$(grep -c '^Events enabled$' err)" = 2 ] && [ "$(grep -c '^Events disabled$' err)" = 3 ] ||
		{ cat err; fail "not switched on and off"; }
	[ "$(perf_samples ranges)" = "$(said err)" ] || { cat err; fail "not as many samples"; }
	# Nothing in the gap of 200 ms: the longest silence is at least half of it.
	perf script -i ranges -F time 2>/dev/null | tr -d ' :' |
		awk 'NR > 1 && $1 - last > most { most = $1 - last } { last = $1 } END { exit !(most > 0.1) }'
}
for try in 1 2 3 4 5; do
	! ranges_hold || break
	[ $try -lt 5 ] || { cat err; fail "no samples, or some between the ranges"; }
done
tacho record -e cpu-clock -D 50 -o late "$TEST_BIN/spin" -c 1 -t 1 2>err
grep -q '^Events enabled$' err && [ "$(said err)" -gt 0 ] || { cat err; fail "-D 50 records nothing"; }
tacho record -e cpu-clock -D -1 -o never true 2>err
[ "$(said err)" = 0 ] || { cat err; fail "-D -1 records"; }
for wrong in 5-3 5-5 10-20,15-30 x 10- -5 1,2 10-20,; do
	refused 129 tacho record -D "$wrong" true
done
