# A process that has ended: one message with its number.
. "$SUPPORT/lib.sh"
"$TEST_BIN/spin" -t 0 &
pid=$!
wait $pid
refused "1 129" tacho stat -e page-faults -p $pid -- true
grep -q $pid err || fail "does not name $pid: $(cat err)"
refused "1 129" tacho stat -e page-faults -t $pid -- true
grep -q $pid err || fail "does not name $pid: $(cat err)"
refused "1 129" tacho stat -e page-faults -p 4194305 -- true
