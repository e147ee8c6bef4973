# The scheduler's counters of known texts of /proc/schedstat: perf 7's tables, recordings both ways, the sysctl, damage.
. "$SUPPORT/lib.sh"
. "$SUPPORT/hostile.sh"
. "$SUPPORT/stored.sh"
. "$SUPPORT/newest.sh"
need python3
# The rows after the explanation of the columns; perf calls one row of version 16 by another name.
rows() {
	sed -e 1,8d -e 's/newidle_lb_avg_count /newidle_lb_avg_pulled/'
}
for version in 15 16 17; do
	for seed in 1 2; do
		SEED=$seed "$SUPPORT/schedstat-fixture" $version before after perf$version-$seed.data
		mkdir -p proc
		cp before proc/schedstat
		tacho sched stats record --procfs proc -o tacho$version-$seed.data cp after proc/schedstat 2>err || fail "$(cat err)"
		grep -q "sched stats: Wrote samples to tacho$version-$seed.data" err || fail "$(cat err)"
		stored rec$version-$seed.data cp tacho$version-$seed.data rec$version-$seed.data
		expected newest sched stats report -i rec$version-$seed.data | rows >wanted
		[ "$(wc -l <wanted)" -gt 300 ] || fail "perf shows nothing of version $version"
		for file in rec perf tacho; do
			tacho sched stats report -i $file$version-$seed.data >found
			rows <found | diff wanted - || fail "report of $file$version-$seed.data"
		done
		# Live: the same without a file.
		cp before proc/schedstat
		tacho sched stats --procfs proc cp after proc/schedstat | diff found - || fail "live, version $version"
	done
	expected newest sched stats diff rec$version-1.data rec$version-2.data | rows >wanted
	tacho sched stats diff perf$version-1.data tacho$version-2.data | rows | diff wanted - || fail "diff, version $version"
done
tacho sched stats report -v -i rec17-1.data | grep -q '^calls of schedule() after which the CPU was idle  *: ' || fail "-v"
tacho sched stats report -C 1 -i rec17-1.data >one
grep -q '^CPU: 1$' one && ! grep -q '^CPU: 0$' one || fail "-C 1"
tacho sched stats report --json -i rec17-1.data >json
python3 - <<'P'
import json
d = json.load(open('json'))
assert d['schema'] == 'tacho.sched-stats/1' and d['version'] == 17 and d['jiffies'] == 2323 and len(d['cpus']) == 2, d
for cpu in d['cpus']:
    # It wrapped.
    assert 100 <= cpu['ttwu_local'] < 5000 and cpu['pcount'] == 77 and len(cpu['domains']) == 2, cpu
    assert cpu['domains'][1]['domain'] == 'MC' and cpu['domains'][1]['cpus'] == '0-1' and len(cpu['domains'][1]) == 2 + 45, cpu
P
# The sysctl is on while the command runs, and off again afterwards, also after kill -9.
cp before proc/schedstat
mkdir -p proc/sys/kernel
echo 0 >proc/sys/kernel/sched_schedstats
switch=proc/sys/kernel/sched_schedstats
tacho sched stats --procfs proc sh -c "cp after proc/schedstat; cat $switch >during" >out
[ "$(cat during)" = 1 ] && [ "$(cat $switch)" = 0 ] || fail "the sysctl: $(cat during) during, $(cat $switch) afterwards"
cp before proc/schedstat
tacho sched stats --procfs proc sh -c 'echo $$ >waiting; exec sleep 60' &
pid=$!
wait_for 20 grep -q 1 $switch
wait_for 20 test -s waiting
kill -9 $pid
kill "$(cat waiting)"
wait_for 20 grep -q 0 $switch
echo 1 >$switch
tacho sched stats --procfs proc cp after proc/schedstat >out && [ "$(cat $switch)" = 1 ] || fail "a sysctl that was set was reset"
# Without a command: until a signal. The command's status is that of tacho.
cp before proc/schedstat
tacho sched stats record --procfs proc -o until.data 2>err &
pid=$!
wait_for 20 heeds $pid
kill -INT $pid
wait $pid || fail "ended by a signal: $(cat err)"
tacho sched stats report -i until.data | grep -q 'Time elapsed (in jiffies) *: *0$' || fail "until a signal"
[ "$(status_of tacho sched stats record --procfs proc -o s.data sh -c 'exit 3')" = 3 ] || fail "the status of the command"
[ "$(status_of tacho sched stats --procfs proc /no/such/program)" = 127 ] || fail "a missing program"
# Errors.
refused 1 tacho sched stats report -i none.data
refused 1 tacho sched stats diff rec15-1.data rec17-1.data
refused 129 tacho sched stats diff 1 2 3
refused 129 tacho sched stats report more
refused 129 tacho sched stats -o x true
refused 1 tacho sched stats report -C 7 -i rec17-1.data
refused 1 tacho sched latency -i perf17-1.data
grep -q 'the file has no events' err || fail "$(cat err)"
for text in 'version 14' 'cpu0 1 2 3' 'version 15\ncpu0 1 2 3' 'version 15\ndomain0 1 2' 'version 17\ncpu0 1 2 3 4 5 6 7 8 9\ndomain0 MC x 1' \
	'version 15\ncpu99999999 1 2 3 4 5 6 7 8 9' 'version 15'; do
	printf "$text\n" >proc/schedstat
	refused 1 tacho sched stats --procfs proc true
done
survives 60 perf17-1.data sched stats report
survives 40 perf15-2.data sched stats report --json
[ -e /proc/schedstat ] || {
	refused 1 tacho sched stats record true
	grep -q 'this kernel has no /proc/schedstat: it was built without CONFIG_SCHEDSTATS' err || fail "$(cat err)"
}
