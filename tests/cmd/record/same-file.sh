# Recorders that are started together with the same file name: each recording is kept, and so is the old file.
# run: both
. "$SUPPORT/lib.sh"
. "$SUPPORT/record.sh"
has_samples() {	# FILE...
	for has_file in "$@"; do
		[ "$(tacho script -i "$has_file" -F comm,event 2>err | grep -c .)" -gt 0 ] ||
			{ ls -l; cat err; fail "no samples in $has_file"; }
	done
}
nothing_left() {
	! ls -A | grep -e '\.part$' -e '\.new$' || fail "a temporary file is left"
}
tacho record -q -e cpu-clock:u -o file sh -c "$LOOP"
cp file first
for who in a b; do
	tacho record -e cpu-clock:u -o file "$TEST_BIN/spin" -c 0.3 -t 0.5 -r $who 2>err.$who &
	eval "pid_$who=$!"
	wait_for 20 test -e $who
done
wait $pid_a || fail "the first recorder failed: $(cat err.a)"
wait $pid_b || fail "the second recorder failed: $(cat err.b)"
cmp first file.old || fail "the old file was lost"
has_samples file file.2
grep -q "another recorder is writing 'file', so this recording is written to 'file.2'" err.b || { cat err.b; fail "no message"; }
grep -q 'Captured and wrote [0-9.]* MB file ' err.a && grep -q 'Captured and wrote [0-9.]* MB file.2 ' err.b ||
	{ cat err.a err.b; fail "the closing line has another name"; }
nothing_left
# Started at the same time, without an old file.
rm -f file*
pids=
for i in 1 2 3 4 5 6 7; do
	tacho record -q -e cpu-clock:u -o file "$TEST_BIN/spin" -c 0.05 -t 0.3 &
	pids="$pids $!"
done
for pid in $pids; do
	wait $pid || fail "a recorder failed"
done
[ "$(ls file* | wc -l)" = "$(ls file file.? | wc -l)" ] && [ "$(ls file* | wc -l)" -le 8 ] || { ls; fail "strange names"; }
has_samples file*
kept=$(ls file* | wc -l)
[ "$kept" = 7 ] || { ls; fail "of 7 recordings $kept are kept"; }
nothing_left
# stat record, too.
tacho stat record -e task-clock -o stat "$TEST_BIN/spin" -t 0.6 -r c 2>err.a &
pid_a=$!
wait_for 20 test -e c
tacho stat record -e task-clock -o stat true 2>err || { cat err; fail "stat record failed"; }
wait $pid_a || fail "the first stat record failed"
for file in stat stat.2; do
	tacho stat report -i $file 2>&1 | grep -q task-clock || fail "no counts in $file"
done
# Names that others may have made are not followed or replaced.
mkdir planted
cd planted
echo precious >victim
for name in perf.data.new perf.data.part; do
	ln -s victim $name
done
tacho record -q -e cpu-clock:u true
tacho record -q -e cpu-clock:u true
[ "$(cat victim)" = precious ] || fail "a planted link was followed"
[ -L perf.data.new ] && [ -s perf.data ] && [ -s perf.data.old ] || fail "no recordings, or a link was removed"
rm perf.data.new perf.data.part
# The user's own link leads to the place of the file.
mkdir far
ln -s far/away link
: >far/away
tacho record -q -e cpu-clock:u -o link true
tacho record -q -e cpu-clock:u -o link true
[ -L link ] && [ -s far/away ] && [ -s far/away.old ] || { ls -lR; fail "a link is not followed"; }
nothing_left
