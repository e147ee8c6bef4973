# Stacks recorded for DWARF are not unwound yet: each command says so once, and shows the leaf.
. "$SUPPORT/lib.sh"
. "$SUPPORT/record.sh"
tacho record -q -e cpu-clock:u -F 999 --call-graph dwarf,1024 -o perf.data "$TEST_BIN/burn" -t 1 -m 100 >burnt 2>&1 ||
	skip "cannot record here"
once() {	# WORDS COMMAND...
	once_words=$1
	shift
	[ "$(status_of "$@")" = 0 ] || { cat err; fail "$* fails"; }
	[ "$(grep -c "$once_words" err)" = 1 ] || { cat err; fail "$*: not told once"; }
	[ "$(wc -l <err)" = 1 ] || { cat err; fail "$*: more than that"; }
	grep -q burn out || fail "$*: nothing is shown"
}
once 'not unwound' tacho report --stdio
once 'without their user space callers' tacho script
once 'not unwound' tacho export -f folded -o -
# Chains of frame pointers are whole: nothing to say.
tacho record -q -e cpu-clock:u -F 999 -g -o perf.data "$TEST_BIN/burn" -t 1 -m 100 >burnt 2>&1
tacho report --stdio >out 2>err
[ ! -s err ] || { cat err; fail "a message without a reason"; }
