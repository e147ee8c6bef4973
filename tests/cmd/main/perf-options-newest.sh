# The options of the newest perf, by its own help: none is unknown, and the stored list has them all.
# run: slow
. "$SUPPORT/lib.sh"
perf=$("$SUPPORT/newest-perf" 2>err) || skip "${perf:-$(cat err)}"
"$SOURCE/tools/perf-options" "$perf" >newest
"$SUPPORT/perf-options" newest >lists 2>problems || fail "$(cat problems)"
cat lists
# Renew the stored list with tools/perf-options if this fails.
sort newest >sorted
sort "$TEST_DATA/perf-options.txt" | comm -13 - sorted >others
[ ! -s others ] || fail "not in tests/data/perf-options.txt: $(cat others)"
