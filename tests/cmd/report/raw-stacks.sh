# Stacks recorded as raw dumps are unwound: report, script and the exports show whole stacks, without a message.
. "$SUPPORT/lib.sh"
. "$SUPPORT/record.sh"
tacho record -q -e cpu-clock:u -F 999 --call-graph dwarf,raw -o perf.data "$TEST_BIN/deep" plain >said 2>&1 ||
	skip "cannot record here"
whole() {	# COMMAND...: its output has the stack of the program
	[ "$(status_of "$@")" = 0 ] || { cat err; fail "$* fails"; }
	[ ! -s err ] || { cat err; fail "$*: a message without a reason"; }
	for function in main outer middle_plain leaf; do
		grep -q "\\b$function\\b" out || { head -n 40 out; fail "$*: no $function"; }
	done
}
whole tacho report --stdio
whole tacho script
whole tacho export -f folded -o -
grep -q 'main;outer;middle_plain;leaf_for_a_while;leaf ' out || { cat out; fail "the order of the functions is wrong"; }
# Without chains nothing is unwound, and nothing is missing.
[ "$(status_of tacho report --stdio --no-children -g none)" = 0 ] && [ ! -s err ] || { cat err; fail "a message with -g none"; }
