# A recording without samples, or none at the times asked for: that is said, as perf does, and no failure.
. "$SUPPORT/lib.sh"
tacho record -q -e cpu-clock:u -c 1000000000000 -o perf.data true || skip "cannot record here"
[ "$(status_of tacho report --stdio)" = 0 ] || fail "status"
[ "$(cat err)" = "tacho report: perf.data has no samples" ] || { cat err; fail "not reported"; }
! grep -q '%' out || fail "rows of nothing"
[ "$(status_of tacho report --json)" = 0 ] || fail "status of --json"
tacho record -q -e cpu-clock:u -F 999 -o perf.data "$TEST_BIN/burn" -t 1 -m 100 >burnt 2>&1
[ "$(status_of tacho report --stdio --time 0,0.001)" = 0 ] || fail "status of a time outside"
[ "$(cat err)" = "tacho report: perf.data has no samples at these times and CPUs" ] || { cat err; fail "time outside"; }
tacho report --stdio >out 2>err
[ ! -s err ] && grep -q '%' out || fail "samples are no longer found"
