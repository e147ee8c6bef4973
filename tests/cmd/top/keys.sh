# The help lists the same keys as the man page, with the same text.
. "$SUPPORT/lib.sh"
. "$SUPPORT/tmux.sh"
tacho version --build-options | grep -q 'ncurses: \[ on' || skip "built without ncurses"
tacho record -q -e cpu-clock:u -o probe.data true 2>err || skip "cannot record here: $(head -n 1 err)"
"$TEST_BIN/busy-threads" 1 600 &
busy=$!
trap 'kill $busy 2>/dev/null || true; tmux_do kill-server 2>/dev/null || true' EXIT
terminal 110 60 "tacho top -d 0.3 -e cpu-clock:u -p $busy"
shows "most_work"
press h; shows "this help"
screen | sed -n 's/.*│\([^│]*[^ │]\) *│.*/\1/p' | sed 's/  */ /g' >help
sed -n "/^## Keys of the table/,/^# /p" "$SOURCE/man/tacho-top.1.scd" |
	awk '/^\*/ { key = $0; gsub(/[*\\]/, "", key) } /^\t/ { sub(/^\t/, ""); print key, $0 }' | sed 's/\\//g' >man
diff help man || fail "help and man page differ"
[ "$(wc -l <help)" -ge 25 ]
