# What it costs beside 8 busy threads at 999 Hz: CPU time, lost samples, answers to keys, memory. Prints the figures.
# run: alone plain slow
. "$SUPPORT/lib.sh"
need python3
tacho version --build-options | grep -q 'ncurses: \[ on' || skip "built without ncurses"
need_root
seconds=${TOP_SECONDS:-20}
"$TEST_BIN/busy-threads" 8 $((seconds + 15)) &
busy=$!
trap 'kill $busy 2>/dev/null || true' EXIT
"$SUPPORT/measure-top" "$seconds" tacho top -F 999 >figures 2>err || { cat err; fail "measure-top"; }
cat figures
value() { awk -v name="$1" '$1 == name { print $2 }' figures; }
[ "$(value status)" = 0 ] || fail "status"
awk -v cpu="$(value cpu_percent)" 'BEGIN { exit !(cpu < 3) }' || fail "more than 3 % of a CPU"
awk -v ms="$(value key_ms_median)" 'BEGIN { exit !(ms < 50) }' || fail "keys wait longer than 50 ms"
[ "$(value lost)" = 0 ] || fail "samples are lost"
awk -v early="$(value rss_kb_early)" -v late="$(value rss_kb_late)" 'BEGIN { exit !(late < early * 2) }' || fail "memory grows"
