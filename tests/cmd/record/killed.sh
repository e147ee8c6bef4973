# After kill -9 at any moment, the data written until then can be read, also by perf.
# run: both slow
. "$SUPPORT/lib.sh"
. "$SUPPORT/record.sh"
need perf
killed() {	# SECONDS ARGS...: records into `file` and kills the recorder then
	killed_after=$1
	shift
	tacho record -q -o file "$@" &
	pid=$!
	sleep "$killed_after"
	child=$(ps -o pid= --ppid $pid | tr -d ' ')
	kill -9 $pid
	wait $pid 2>/dev/null || true
	[ -z "$child" ] || kill $child 2>/dev/null || true
}
both_read() {	# EVENT LEAST: perf and tacho read as many samples, LEAST of them or more
	n=$(perf script -i file -F comm,time,event 2>/dev/null | grep -c "$1" || true)
	[ "$n" -ge "$2" ] || fail "perf reads $n samples of $1 of a killed recorder's file"
	m=$(tacho script -i file -F comm,time,event 2>/dev/null | grep -c "$1" || true)
	[ "$n" = "$m" ] || fail "perf reads $n samples of $1, tacho $m"
}
killed 2.5 -e cpu-clock -F 500 -g "$TEST_BIN/spin" -c 30
both_read cpu-clock 20
perf report -i file --header-only 2>/dev/null | grep -q '^# cmdline : .*record' || fail "no features"
[ "$(status_of tacho script -i file)" = 0 ] || fail "status of a killed recorder's file"
[ "$(grep -c 'the recorder was killed' err)" = 1 ] || { cat err; fail "not one message that it was killed"; }
tacho record -q -o whole -e cpu-clock true
tacho script -i whole 2>&1 >/dev/null | grep killed && fail "a whole file is said to be of a killed recorder"
killed 2.5 -z -e cpu-clock -F 500 "$TEST_BIN/spin" -c 30
tacho inject -i file -o file.copy 2>err || { cat err; fail "compressed records of a killed recorder"; }
mv file.copy file
both_read cpu-clock 20
[ "$(id -u)" = 0 ] && [ -r /sys/kernel/tracing/events/syscalls ] || exit 0
# On an idle machine no ring buffer fills up: it is written once a second. Tracepoint formats must be there from the
# start.
killed 2.5 -a -e cpu-clock -F 20
both_read cpu-clock 10
killed 0.3 -a -e sched:sched_switch
perf script -i file >/dev/null 2>perf.err || { cat perf.err; fail "perf refuses an early file"; }
# Where the machine is busy a recorder may wait between writing the data and updating the header: one of
# three does not.
for try in 1 2 3; do
	killed 2.5 -a -e sched:sched_switch
	! perf script -i file >/dev/null 2>&1 || break
done
both_read sched:sched_switch 5
perf script -i file 2>/dev/null | grep -q 'prev_comm=.*next_comm=' || fail "no fields"
# Each write of data overwrites the list of features, which is then written again: three short calls without a list.
good=0
for after in 0.5 0.7 0.9 1.1; do
	killed $after -e raw_syscalls:sys_enter dd if=/dev/zero of=/dev/null bs=1
	n=$(tacho script -i file -F comm,time,event 2>err | grep -c sys_enter || true)
	[ "$n" -gt 1000 ] || { cat err; ls -l file; fail "tacho reads $n samples of a storm"; }
	grep -q 'the recorder' err || fail "no message about the killed recorder"
	[ "$(perf script -i file -F comm,time,event,trace 2>/dev/null | grep -c 'sys_enter: NR')" != "$n" ] ||
		good=$((good + 1))
done
[ $good -ge 2 ] || fail "perf reads $good of 4 killed recorders' files"
# Killed at each of these calls. Without the list perf does not know the event's name; tacho reads the one before the data.
need strace
unlisted=0
for call in 11 12 13 14; do
	ASAN_OPTIONS=${ASAN_OPTIONS:-}:detect_leaks=0 strace -qq -o trace -e trace=pwrite64,pwritev \
		-e inject=pwrite64,pwritev:signal=KILL:when=$call \
		tacho record -q -o file -e raw_syscalls:sys_enter dd if=/dev/zero of=/dev/null bs=1 count=300000 || true
	n=$(tacho script -i file -F comm,time,event 2>err | grep -c raw_syscalls:sys_enter || true)
	[ "$n" -gt 0 ] || { cat err trace; fail "killed at call $call: tacho reads $n samples"; }
	tacho script -i file 2>/dev/null | grep -q 'sys_enter: NR ' || fail "killed at call $call: no fields"
	grep -q 'the recorder' err || fail "killed at call $call: no message"
	! grep -q 'did not end properly' err || unlisted=$((unlisted + 1))
done
[ $unlisted -gt 0 ] || fail "no kill hit the moment without a list"
