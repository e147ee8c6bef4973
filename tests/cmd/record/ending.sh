# How recordings end: the command's status, Ctrl-C, the target's end, --max-size; the old file stays.
# run: both
. "$SUPPORT/lib.sh"
. "$SUPPORT/record.sh"
for status in 0 3 255; do
	[ "$(status_of tacho record -e cpu-clock sh -c "exit $status")" = $status ] || fail "status $status"
done
[ -s perf.data ] && [ -s perf.data.old ] || fail "no perf.data, or the old one was not kept"
grep -q '^\[ tacho record: Woken up [0-9]* times to write data \]$' err || fail "first line: $(cat err)"
[ -n "$(said err)" ] || fail "second line: $(cat err)"
[ "$(status_of tacho record -q -e cpu-clock true)" = 0 ] && [ ! -s err ] || fail "-q prints: $(cat err)"
# If the command cannot be started, the old file stays.
echo '#!/no/such/interpreter' >not-runnable
chmod +x not-runnable
before=$(cksum perf.data perf.data.old)
for command in ./nothing-here no-such-command ./not-runnable ./err; do
	[ "$(status_of tacho record "$command")" -ge 126 ] || fail "$command could be started"
	[ "$(status_of tacho record --threads -o dir "$command")" -ge 126 ] || fail "--threads $command"
	[ "$(status_of tacho stat record -e page-faults "$command")" -ge 126 ] || fail "stat record $command"
done
[ "$(cksum perf.data perf.data.old)" = "$before" ] || fail "a command that cannot be started moved files"
ls | grep -e '\.new$' -e '^dir' && fail "files were not removed"
tacho record -e cpu-clock -o int "$TEST_BIN/spin" -r runs -c 30 2>err &
pid=$!
wait_for 20 test -e runs
sleep 0.3
kill -INT $pid
wait $pid || [ $? -ge 128 ] || fail "status after SIGINT"
[ "$(said err)" -gt 0 ] || fail "nothing recorded until SIGINT: $(cat err)"
"$TEST_BIN/spin" -c 1 -t 1 &
tacho record -e cpu-clock -o pid -p $! 2>err
[ "$(said err)" -gt 0 ] || fail "nothing recorded of a process that ended: $(cat err)"
wait || true
tacho record -e cpu-clock -F 5000 -g -o size --max-size 20K timeout 20 "$TEST_BIN/spin" -c 30 2>err || true
[ "$(wc -c <size)" -lt 4000000 ] || fail "--max-size had no effect"
grep -q '^\[ tacho record: tacho size limit reached (20 KB), stopping session \]$' err || { cat err; fail "no word of --max-size"; }
tacho record -e cpu-clock -D 20000 -o delay sh -c 'sleep 0.1' 2>err
[ "$(said err)" = 0 ] || fail "samples before the delay was over: $(cat err)"
