# Every option of perf 7 is done, accepted with a note, or refused with a reason; prints the three lists.
. "$SUPPORT/lib.sh"
"$SUPPORT/perf-options" --run "$TEST_DATA/perf-options.txt" >lists 2>problems || fail "$(cat problems)"
cat lists
for title in Done 'Accepted with a note' 'Refused with a reason'; do
	grep -q "^$title: [1-9]" lists || fail "no list '$title'"
done
# A note is printed once, and the command goes on.
tacho stat --affinity --affinity --no-affinity -x, -e page-faults true 2>err
[ "$(grep -c 'changes nothing here' err)" = 1 ] && grep -q ',page-faults,' err || fail "$(cat err)"
# Commands of perf that are not there say what to use instead.
[ "$(status_of tacho daemon start)" = 1 ] && grep -q "perf's command 'daemon' is not supported" err || fail "$(cat err)"
