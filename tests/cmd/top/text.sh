# Text: the shares of functions, per refresh; it ends by itself, with the process, and by signals, and does not need stdin.
. "$SUPPORT/lib.sh"
tacho record -q -e cpu-clock:u -o probe.data true 2>err || skip "cannot record here: $(head -n 1 err)"
"$TEST_BIN/busy-threads" 2 600 &
busy=$!
trap 'kill $busy 2>/dev/null || true' EXIT

share() {	# FUNCTION FILE: its percentage in the last table
	sed -n "s/^ *\([0-9.]*\)%.*\[.\] $1\$/\1/p" "$2" | tail -n 1
}
tacho top --stdio -e cpu-clock:u -p $busy -d 0.5 --interval-count 3 </dev/null >out 2>err || { cat err; fail "top --stdio"; }
[ ! -s err ] || { cat err; fail "messages"; }
[ "$(grep -c '^   PerfTop: .* irqs/sec  kernel:.* lost: 0/0 drop: 0/0 \[4000Hz cpu-clock:u\],  (PID: '"$busy"')$' out)" = 3 ] ||
	{ cat out; fail "not three heads"; }
[ "$(grep -c '^   [0-9]* samples/s, lost 0/0; own CPU [0-9.]*%; [0-9.]*% without a name$' out)" = 3 ] || { cat out; fail "status"; }
most=$(share most_work out)
awk -v most="$most" 'BEGIN { exit !(most > 60 && most < 90) }' || { cat out; fail "most_work has $most %"; }
# Call chains: with children, as in report.
tacho top --stdio -g -e cpu-clock:u -p $busy -d 0.5 --interval-count 2 -E 4 </dev/null >out 2>err || { cat err; fail "top -g"; }
grep -q 'broken stacks$' out && grep -q 'Children' out || { cat out; fail "no call chains"; }
awk -v all="$(sed -n 's/^ *\([0-9.]*\)% .*\[.\] busy$/\1/p' out | tail -n 1)" 'BEGIN { exit !(all > 95) }' || { cat out; fail "busy is not above all"; }
[ "$(grep -c '^ *[0-9.]*%  *[0-9.]*% ' out)" = 8 ] || { cat out; fail "not 4 entries per table"; }
# Columns are as wide as the entries that are shown need.
tacho top --stdio -e cpu-clock:u -p $busy -d 0.5 --interval-count 1 -s sym -E 1 </dev/null >out 2>err || { cat err; fail "top -E 1"; }
[ "$(sed -n 's/^# \.*  \(\.*\)$/\1/p' out)" = ............. ] || { cat out; fail "the width of '[.] most_work'"; }
# Two events are columns, -n and -f look at samples, -z forgets.
tacho top --stdio -z -n -e cpu-clock:u,task-clock:u -p $busy -d 0.3 --interval-count 2 </dev/null >out 2>err || { cat err; fail "two events"; }
grep -q "of events 'cpu-clock:u, task-clock:u'" out && grep -q ' Samples ' out || { cat out; fail "no columns"; }
tacho top --stdio -f 1000000 -e cpu-clock:u -p $busy -d 0.3 --interval-count 1 </dev/null >out 2>err || { cat err; fail "-f"; }
! grep -q '_work' out || { cat out; fail "-f shows entries with few samples"; }
# Without stdin it does not spin: a second of waiting for a process that does nothing takes hardly any CPU time.
sleep 60 &
idle=$!
trap 'kill $busy $idle 2>/dev/null || true' EXIT
python3 -c '
import resource, subprocess, sys
subprocess.run(["tacho", "top", "--stdio", "-e", "cpu-clock:u", "-p", sys.argv[1], "-d", "2", "--interval-count", "1"], stdin=subprocess.DEVNULL,
               stdout=subprocess.DEVNULL, check=True)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
sys.exit(used.ru_utime + used.ru_stime > (3 if "'"${SANITIZED:-}"'" else 0.6))' $idle || fail "it spins"
# Signals end it, with status 0.
for signal in INT TERM HUP; do
	rm -f out		# of the round before
	tacho top --stdio -e cpu-clock:u -p $busy -d 0.3 </dev/null >out 2>err &
	pid=$!
	wait_for 20 grep -q most_work out
	kill -$signal $pid
	wait $pid || fail "SIG$signal: status $?"
done
# The end of the process ends it, with its last samples.
"$TEST_BIN/busy-threads" 1 2 &
tacho top --stdio -e cpu-clock:u -p $! -d 30 </dev/null >out 2>err || { cat err; fail "the end of the process"; }
grep -q 'tacho top: the processes have ended' err && grep -q most_work out || { cat out err; fail "no last table"; }
# The whole machine, if that is allowed.
if [ "$(id -u)" = 0 ]; then
	tacho top --stdio -d 0.5 --interval-count 2 -s comm -E 200 </dev/null >out 2>err || { cat err; fail "the machine"; }
	grep -q '%  busy-threads' out || { cat out; fail "busy-threads is missing"; }
fi
