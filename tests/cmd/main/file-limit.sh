# A file size limit causes an error message instead of a fatal signal; commands that are run get the signal as usual.
. "$SUPPORT/lib.sh"
. "$SUPPORT/record.sh"
need prlimit
limited() {	# BYTES COMMAND...
	limited_bytes=$1
	shift
	echo 0 >status
	# messages go through a pipe: a file that holds them would be subject to the limit as well
	{ prlimit --fsize="$limited_bytes" "$@" 2>&1 >shown || echo $? >status; } | cat >told
	status=$(cat status)
	rm status
	[ $status = 1 ] || { cat told; fail "status $status of $*, expected 1"; }
	[ "$(grep -c 'File too large' told)" = 1 ] || { cat told; fail "no message, or more than one, of $*"; }
}
tacho record -q -g -e cpu-clock -o file sh -c "$LOOP" 2>err || { cat err; fail "no recording"; }
limited 500 tacho flame -i file -o x.svg
limited 500 tacho heatmap -i file -o y.svg
limited 500 tacho script -i file
limited 500 tacho report -i file
limited 500 tacho data convert --to-json x.json -i file
limited 500 tacho stat -e page-faults -I 10 -o x.txt "$TEST_BIN/spin" -c 2 -t 2
tacho stat -e page-faults sh -c 'ulimit -f 1; head -c 9999 /dev/zero >big' 2>err && fail "a command outlives its limit"
[ "$(grep SigIgn /proc/self/status)" = "$(tacho stat -e page-faults grep SigIgn /proc/self/status 2>err)" ] ||
	fail "the command ignores other signals"

# Counts of before the limit stay in the file.
tacho stat record -o short -e page-faults true 2>err || { cat err; fail "stat record"; }
limited $(($(wc -c <short) + 3000)) tacho stat record -I 10 -o long -e page-faults "$TEST_BIN/spin" -c 3 -t 3
tacho stat report -x, -i long >out 2>rows || { cat rows; fail "a file that cannot be read"; }
[ "$(grep -c ',page-faults,' rows)" -gt 5 ] || { cat rows; fail "not all counts that fitted are kept"; }
limited 500 tacho stat record -o none -e page-faults true
[ ! -e none ] || fail "a file without counts is kept"
