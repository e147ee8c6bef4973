# The time between two tracepoints in a thread, in an instance that is removed again, also after kill -9.
. "$SUPPORT/lib.sh"
need_root
need_tracefs
instances=/sys/kernel/tracing/instances
mkdir "$instances/may-$$" 2>err || skip "may not make a tracing instance: $(cat err)"
rmdir "$instances/may-$$"
sleeping=syscalls:sys_enter_clock_nanosleep,syscalls:sys_exit_clock_nanosleep

# own: the instances of a tacho that is a descendant of this test.
left_by() {	# PID
	ls -d "$instances/tacho-$1"-* 2>/dev/null
}

gone() {	# PID
	! left_by "$1" >/dev/null
}

tacho ftrace latency -e "$sleeping" --hide-empty sleep 0.2 >out
cat out
grep -q '^#   DURATION     |      COUNT | GRAPH  ' out || fail "no head"
grep -q '^   128 -  256 ms |          1 | ############################################## |$' out || fail "not one sleep of 200 ms"
grep -q '^       count:                    1$' out || fail "not one call"
awk '/total time/ { total = $3 } /p99:/ { p99 = $2 } END { exit !(total >= 200000 && p99 == total) }' out || fail "not 200 ms"

# Three sleeps of a child, and the sum in nanoseconds.
tacho ftrace latency --inherit --json -e "$sleeping" sh -c 'sleep 0.1; sleep 0.1; sleep 0.1' >json
python3 - <<'P'
import json
a = json.load(open('json'))
assert a['schema'] == 'tacho.ftrace-latency/1' and a['count'] == 3 and a['lost'] == 0, a
assert a['min_ns'] >= 100000000 and a['total_ns'] >= 3 * a['min_ns'] and a['max_ns'] >= a['percentiles_ns']['p50'], a
assert sum(b['count'] for b in a['buckets']) == 3 and a['buckets'][-1]['to_ns'] is None, a
P

# Buckets of equal size: the first to 50, then steps of 100; whatever is longer is in the last one.
tacho ftrace latency -e "$sleeping" --bucket-range=100 --min-latency=50 --max-latency=450 sleep 0.1 >out
cut -d'|' -f1 <out | head -n 7 | tail -n 6 | tr -s ' ' >ranges
cat >wanted <<'W'
 0 - 50 us 
 50 - 150 us 
 150 - 250 us 
 250 - 350 us 
 350 - 450 us 
 450 - ... us 
W
diff wanted ranges || fail "other buckets"

# The same tracepoint twice: from each event to the next.
tacho ftrace latency --json -e raw_syscalls:sys_enter,raw_syscalls:sys_enter sleep 0.1 >json
[ "$(sed 's/.*"count": \([0-9]*\), "lost".*/\1/' json)" -gt 5 ] || fail "no intervals between system calls: $(cat json)"

# Killed: the process that waits for that removes the instance.
tacho ftrace latency -a -e "$sleeping" &
pid=$!
wait_for 20 left_by $pid
kill -9 $pid
wait $pid || true
wait_for 20 gone $pid

# Both killed: the next start removes it.
tacho ftrace latency -a -e "$sleeping" &
pid=$!
wait_for 20 left_by $pid
helper=$(pgrep -P $pid)
kill -STOP "$helper"
kill -9 $pid "$helper"
wait $pid || true
left_by $pid || fail "the instance is gone already"
tacho ftrace latency -e "$sleeping" sleep 0.1 >out
gone $pid || fail "the instance of a killed session is left"

# A signal ends the session with its result.
tacho ftrace latency -a -e "$sleeping" >out 2>err &
pid=$!
wait_for 20 left_by $pid
wait_for 20 heeds $pid
sleep 0.2
kill -INT $pid
wait $pid || fail "status $? after an interrupt: $(cat err)"
gone $pid || fail "the instance is left"
