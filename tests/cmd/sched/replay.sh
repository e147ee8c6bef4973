# `sched replay` takes the CPU time that was recorded, as often as asked for, and ends.
. "$SUPPORT/lib.sh"
need xz
xz -dc "$TEST_DATA/recordings/sched/export/sched.data.xz" >sched.data
tacho sched replay -r 3 -i sched.data >out
grep -qx 'run measurement overhead: [0-9]* nsecs' out && grep -qx 'nr_run_events:        [0-9]*' out || fail "$(head out)"
grep -qE '^task +[0-9]+ \( +sh: +[0-9]+\), nr_events: [0-9]+$' out || fail "no task: $(head -n 20 out)"
[ "$(grep -cE '^#[123]  : [0-9.]+, ravg: [0-9.]+, cpu: [0-9.]+ / [0-9.]+$' out)" = 3 ] || fail "$(tail -n 5 out)"
tacho sched timehist --json -i sched.data >timehist.json
python3 - <<'P'
import json, re
recorded = json.load(open('timehist.json'))['run_ns'] / 1e6
for cpu in re.findall(r'cpu: ([0-9.]+) /', open('out').read()):
    # Threads of our own have costs of their own, which a sanitizer multiplies.
    assert 0.8 * recorded < float(cpu) < 3 * recorded + 100, (cpu, recorded)
P
[ "$(status_of tacho sched replay -i sched.data --time 1,2)" = 1 ] && grep -q 'has no task that runs' err || fail "$(cat err)"
[ "$(status_of tacho sched replay -r x)" = 129 ] || fail "-r x"
