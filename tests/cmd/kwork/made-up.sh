# Known work: runs, delays, interrupts within softirqs within tasks, and damaged recordings.
. "$SUPPORT/lib.sh"
. "$SUPPORT/hostile.sh"
need python3
python3 - <<'P'
import os
import sys
sys.path.insert(0, os.environ['SUPPORT'])
from tracepoints import Recording
r = Recording(cpus=2)
irq_in = r.event('irq:irq_handler_entry', [('int', 'irq'), ('__data_loc char[]', 'name')])
irq_out = r.event('irq:irq_handler_exit', [('int', 'irq'), ('int', 'ret')])
soft = [r.event('irq:softirq_' + n, [('unsigned int', 'vec')]) for n in ('raise', 'entry', 'exit')]
work = [r.event('workqueue:workqueue_' + n, [('void *', 'work'), ('void *', 'function')]) for n in ('activate_work', 'execute_start', 'execute_end')]
switch = r.event('sched:sched_switch', [('char[16]', 'prev_comm'), ('pid_t', 'prev_pid'), ('int', 'prev_prio'), ('long', 'prev_state'),
                                        ('char[16]', 'next_comm'), ('pid_t', 'next_pid'), ('int', 'next_prio')])
def sw(t, a, b):
    r.sample(switch, 0, a[1], a[1], t, prev_comm=a[0], prev_pid=a[1], prev_prio=120, prev_state=0, next_comm=b[0], next_pid=b[1], next_prio=120)
idle, one, two = ('swapper/0', 0), ('one', 11), ('two', 12)
on = dict(cpu=0, pid=11, tid=11)
sw(1000000, idle, one)
r.sample(soft[0], time=1100000, vec=3, **on)
r.sample(soft[1], time=1200000, vec=3, **on)		# delayed by 100 us
r.sample(irq_in, time=1300000, irq=36, name='disk', **on)
r.sample(irq_out, time=1350000, irq=36, ret=1, **on)	# 50 us
r.sample(soft[2], time=1500000, vec=3, **on)		# 300 us, 50 of them interrupted
sw(2000000, one, two)					# 1000 us, 300 of them not its own
r.sample(work[0], time=2100000, work=0xffff888000000040, function=0x123456, **on)
r.sample(work[1], time=2300000, work=0xffff888000000040, function=0x123456, **on)
r.sample(work[2], time=2400000, work=0xffff888000000040, function=0x123456, **on)
sw(3000000, two, idle)
sw(5000000, idle, one)
r.write('made.data')
P
tacho kwork report -i made.data --json >report.json
tacho kwork top -i made.data --json >top.json
python3 - <<'P'
import json
rows = {r['name']: r for r in json.load(open('report.json'))['rows']}
assert set(rows) == {'disk:36', '(s)NET_RX:3', '(w)0x123456'}, rows
assert rows['disk:36']['runs'] == {'count': 1, 'sum_ns': 50000, 'max_ns': 50000, 'max_from_ns': 1300000, 'max_to_ns': 1350000}
assert rows['(s)NET_RX:3']['runs']['sum_ns'] == 300000 and rows['(s)NET_RX:3']['delays']['sum_ns'] == 100000
assert rows['(w)0x123456']['runs']['sum_ns'] == 100000 and rows['(w)0x123456']['delays']['sum_ns'] == 200000
assert rows['disk:36']['delays']['count'] == 0 and rows['disk:36']['class'] == 'irq'
top = json.load(open('top.json'))
assert top['cpus'] == [{'cpu': 0, 'total_ns': 4000000, 'idle_ns': 2000000, 'irq_ns': 50000, 'softirq_ns': 250000}], top['cpus']
assert {t['comm']: t['run_ns'] for t in top['tasks']} == {'one': 700000, 'two': 1000000}, top['tasks']
P
tacho kwork timehist -i made.data | grep -q '^          0.001200           0.001500  \[0000\]  (s)NET_RX:3                          0.300       0.100 $' ||
	fail "$(tacho kwork timehist -i made.data)"
tacho kwork latency -i made.data | grep -c ' | 0000 | ' | grep -qx 2 || fail "not two rows"
tacho kwork report -i made.data -n disk | grep -c ' | 0000 | ' | grep -qx 1 || fail "-n"
tacho kwork report -i made.data -C 1 | grep ' | 0000 | ' && fail "-C"
tacho kwork report -i made.data --time 0.0012,0.00136 | grep -c ' | 0000 | ' | grep -qx 1 || fail "--time"
survives 100 made.data kwork report --json
survives 50 made.data kwork top
survives 50 made.data kwork timehist
refused 129 tacho kwork
refused 129 tacho kwork sum
refused 129 tacho kwork report -k tasklet
refused 129 tacho kwork report -s avg
refused 129 tacho kwork top -s name
refused 1 tacho kwork report -C x -i made.data
refused 129 tacho kwork timehist -g
