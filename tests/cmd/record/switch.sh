# One file after the other: by time, size and signal; only the newest are kept; each is complete.
. "$SUPPORT/lib.sh"
. "$SUPPORT/record.sh"
need perf
readable() {	# FILE...
	for readable_file in "$@"; do
		[ "$(perf_samples "$readable_file")" -gt 0 ] || fail "perf reads nothing of $readable_file"
	done
}
tacho record -e cpu-clock -o t --switch-output=1s --switch-max-files 2 timeout 3.3 "$TEST_BIN/spin" -c 30 \
	2>err || [ $? = 124 ]
[ "$(ls t.* | wc -l)" = 2 ] || { ls; fail "$(ls t.* | wc -l) files are kept instead of 2"; }
grep -q '^\[ tacho record: Dump t\.[0-9]* \]$' err || { cat err; fail "no line about a switch"; }
readable t.*
perf script -i "$(ls t.* | tail -n 1)" 2>/dev/null | grep -q spin || fail "the later file has no names"
tacho record -e cpu-clock -F 2000 -g -o s --switch-output=64K timeout 3 "$TEST_BIN/spin" -c 30 2>err || [ $? = 124 ]
[ "$(ls s.* | wc -l)" -ge 2 ] || fail "no switch by size"
readable "$(ls s.* | head -n 1)"
tacho record -e cpu-clock -o u --switch-output --overwrite timeout 2 "$TEST_BIN/spin" -c 30 2>err &
pid=$!
sleep 1
kill -USR2 $pid
wait $pid || [ $? = 124 ]
[ "$(ls u.* | wc -l)" = 2 ] || { ls; cat err; fail "no switch by signal"; }
readable u.*
# Each file tells the times of its own samples.
set -- $(ls t.*)
range() { perf report -i "$1" --header-only 2>/dev/null | sed -n "s/^# time of $2 sample : *//p"; }
awk -v a="$(range "$1" last)" -v b="$(range "$2" first)" 'BEGIN { exit !(b > 0 && b >= a) }' ||
	fail "the second file's times begin at $(range "$2" first), the first one's end at $(range "$1" last)"
