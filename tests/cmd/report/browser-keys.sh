# The help lists the same keys as the man page, with the same text.
. "$SUPPORT/lib.sh"
. "$SUPPORT/tmux.sh"
tacho version --build-options | grep -q 'ncurses: \[ on' || skip "built without ncurses"
tacho record -q -e cpu-clock:u -F 2000 -g -o hot.data "$TEST_BIN/hot" 2>err || skip "cannot record here: $(head -n 1 err)"

help_rows() { screen | sed -n 's/.*│\([^│]*[^ │]\) *│.*/\1/p' | sed 's/  */ /g'; }
man_rows() {	# HEADING: "*KEYS*" and the indented line below it, joined
	sed -n "/^## $1/,/^#/p" "$SOURCE/man/tacho-report.1.scd" |
		awk '/^\*/ { key = $0; gsub(/[*\\]/, "", key) } /^\t/ { sub(/^\t/, ""); print key, $0 }' | sed 's/\\//g'
}
terminal 110 50 "tacho report -i hot.data"
shows "[.] outer"
press h; shows "this help"
help_rows >help
man_rows "Keys of the table" >man
diff help man || fail "help and man page differ"
press x; shows_not "this help"
press -l /; press -l spin; press Enter; shows ", Symbol: spin"
press a; shows "Instruction"
press h; shows "this help"
help_rows >help
man_rows "Keys of a function" >man
diff help man || fail "help and man page differ"
[ "$(wc -l <help)" -ge 10 ]
