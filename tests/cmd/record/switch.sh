# One file after the other: by time, size and signal; only the newest are kept; each is complete.
# run: both slow
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
tacho record -e cpu-clock -o u --switch-output --overwrite "$TEST_BIN/spin" -r runs -c 2 -t 2 2>err &
pid=$!
wait_for 20 test -e runs
sleep 0.5
kill -USR2 $pid
wait $pid
[ "$(ls u.* | wc -l)" = 2 ] || { ls; cat err; fail "no switch by signal"; }
readable u.*
# Each file has the times of its own first and last sample.
set -- $(ls t.*)
range() { perf report -i "$1" --header-only 2>/dev/null | sed -n "s/^# time of $2 sample : *//p"; }
awk -v a="$(range "$1" last)" -v b="$(range "$2" first)" 'BEGIN { exit !(b > 0 && b >= a) }' ||
	fail "the second file's times begin at $(range "$2" first), the first one's end at $(range "$1" last)"

# Several files in the same hundredth of a second have different names.
[ "$(id -u)" = 0 ] && [ -r /sys/kernel/tracing/events/syscalls ] || exit 0
for try in 1 2 3 4 5; do
	rm -f w.*
	tacho record -e raw_syscalls:sys_enter -m 64K -o w --switch-output=256K dd if=/dev/zero of=/dev/null bs=1 \
		count=40000 2>err
	n=0
	for file in w.*; do
		n=$((n + $(tacho script -F event -i "$file" | grep -c sys_enter || true)))
	done
	dumped=$(grep -c Dump err)
	[ "$(ls w.* | wc -l)" = $((dumped + 1)) ] || { ls w.*; cat err; fail "$dumped dumps, $(ls w.* | wc -l) files"; }
	[ $n = "$(said err)" ] || { cat err; fail "$n samples in all files"; }
done
