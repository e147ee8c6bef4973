# Loads whose switches, run times, delays and migrations are known: from what the program counts and from what the kernel
# counts for its threads in /proc.
. "$SUPPORT/lib.sh"
need_root
need_tracefs
cat >check.py <<'P'
import json, sys
work, n = sys.argv[1], int(sys.argv[2])
d = json.load(open('timehist.json'))
lat = json.load(open('latency.json'))
assert d['schema'] == 'tacho.sched-timehist/1' and lat['schema'] == 'tacho.sched-latency/1'
tasks = {t['tid']: t for t in d['tasks']}
for line in open('work.txt'):
    name, tid, run, delay, slices, voluntary, involuntary = line.split()
    run, delay, switches = int(run), int(delay), int(voluntary) + int(involuntary)
    t = tasks[int(tid)]
    mine = [e for e in d['events'] if e['kind'] == 'switch' and e['task']['tid'] == int(tid)]
    assert t['comm'] == name, (t['comm'], name)
    # It is switched out once more when it exits, and perhaps before that; the first thread was so before the recording began.
    assert switches - 2 <= t['runs'] <= switches + 10, (name, t['runs'], switches)
    assert len(mine) == t['runs'] and sum(e['run_ns'] for e in mine) == t['run_ns']
    # The kernel's clock of run times and that of events differ a little at each switch.
    slack = 0.02 * run + 4000 * t['runs'] + 5e6
    if t['tid'] == t['pid']:
        # The kernel has counted this thread since before the recording began.
        slack += 0.2 * delay + 10e6
    assert abs(t['run_ns'] - run) < slack, (name, 'ran', t['run_ns'], run)
    # A delay begins at the wakeup here, and a little later, when the task is put on the run queue, in the kernel.
    assert -slack < t['delay_ns'] - delay < slack + 0.05 * delay, (name, 'was delayed', t['delay_ns'], delay)
    row = next(r for r in lat['tasks'] if r['tid'] == int(tid))
    assert row['comm'] == name and abs(row['delay_ns'] - t['delay_ns']) < slack, (row, t)
    # Kernels that drop the events of some tasks drop some of the switches to this one.
    assert row['delays'] >= 0.7 * t['runs'] - 2, (row, t['runs'])
    delays = sorted(e['delay_ns'] for e in mine if e['start_ns'])
    if work == 'pingpong':
        assert t['runs'] >= n, t
        assert abs(len(delays) - row['delays']) <= 1
    if work == 'sleep':
        assert t['sleep_ns'] + t['run_ns'] >= n * 5000000 and sum(e['state'] == 'S' for e in mine) >= n, t
    if work == 'compete':
        assert t['preempted_ns'] > t['sleep_ns'] and any(e['state'] == 'R' for e in mine), t
    if work == 'migrate':
        moves = [e for e in d['events'] if e['kind'] == 'migration' and e['migrated']['tid'] == int(tid)]
        assert len(moves) == t['migrations'] and n <= len(moves) <= n + 3, (len(moves), n)
        assert all(e['from_cpu'] != e['to_cpu'] for e in moves)
        cpus = [e['cpu'] for e in mine]
        assert sum(a != b for a, b in zip(cpus, cpus[1:])) >= n - 1, cpus
# The percentiles are those of the single delays.
rows = {r['tid']: r for r in lat['tasks']}
for tid, row in rows.items():
    p = row['percentiles_ns']
    assert p['50'] <= p['90'] <= p['99'] <= p['100'] == row['max_delay_ns'], row
P
check() {	# WORK N
	tacho sched record -q -o sched.data "$TEST_BIN/sched-work" "$@" >work.txt || skip "cannot record here"
	[ -s work.txt ] || skip "the kernel does not count run times of threads"
	tacho sched timehist -w -M --json -i sched.data >timehist.json
	tacho sched latency -p --json --percentiles=50,90,99,100 -i sched.data >latency.json
	python3 check.py "$@" || fail "$*: $(cat work.txt)"
}
check pingpong 2000
check sleep 40
check compete 200
[ "$(nproc)" -lt 2 ] || check migrate 50
