# Known spans of tasks and CPUs are drawn where they belong; the selection of tasks, damaged recordings, wrong options.
. "$SUPPORT/lib.sh"
. "$SUPPORT/hostile.sh"
need python3
python3 - <<'P'
import os
import sys
sys.path.insert(0, os.environ['SUPPORT'])
from tracepoints import Recording
r = Recording(cpus=2)
switch = r.event('sched:sched_switch', [('char[16]', 'prev_comm'), ('pid_t', 'prev_pid'), ('int', 'prev_prio'), ('long', 'prev_state'),
                                        ('char[16]', 'next_comm'), ('pid_t', 'next_pid'), ('int', 'next_prio')])
waking = r.event('sched:sched_waking', [('char[16]', 'comm'), ('pid_t', 'pid'), ('int', 'prio'), ('int', 'target_cpu')])
idle_state = r.event('power:cpu_idle', [('u32', 'state'), ('u32', 'cpu_id')])
frequency = r.event('power:cpu_frequency', [('u32', 'state'), ('u32', 'cpu_id')])
def sw(t, a, state, b, cpu=0):
    r.sample(switch, cpu, a[1], a[1], t, prev_comm=a[0], prev_pid=a[1], prev_prio=120, prev_state=state, next_comm=b[0], next_pid=b[1], next_prio=120)
idle, one, two = ('swapper/0', 0), ('o<n>e&"', 11), ('two', 12)
sw(0x100000, idle, 0, idle)
sw(1000000, idle, 0, one)
r.sample(waking, 1, 5, 5, 2000000, fields={'comm': 'two', 'pid': 12, 'prio': 120, 'target_cpu': 0})	# a task that is not known to sleep: ignored
sw(3000000, one, 2, two)			# one is blocked for 2 ms, then waits for 1 ms
r.sample(waking, 1, 5, 5, 5000000, fields={'comm': 'one', 'pid': 11, 'prio': 120, 'target_cpu': 0})
sw(6000000, two, 0, one)			# two waits to the end
r.sample(idle_state, 1, 0, 0, 2000000, state=2, cpu_id=1)
r.sample(idle_state, 1, 0, 0, 4000000, state=0xffffffff, cpu_id=1)
r.sample(frequency, 1, 0, 0, 3000000, state=2400000, cpu_id=1)
sw(9000000, one, 1, idle)
r.write('made.data')
P
spans() {	# FILE: class, milliseconds and what of each box
	python3 - "$1" <<'P'
import re
import sys
import xml.dom.minidom
for rect in xml.dom.minidom.parse(sys.argv[1]).getElementsByTagName('rect'):
    title = rect.getElementsByTagName('title')
    if title:
        text = title[0].firstChild.data
        print(rect.getAttribute('class'), re.search(r'([0-9.]+) ms at ([0-9.]+) s', text).groups(), text.split(',')[0])
P
}
tacho timechart -i made.data -o made.svg 2>err
spans made.svg | sort -u >found
cat >wanted <<'W'
blocked ('2.000', '0.003000') o<n>e&":11 is blocked
freq ('6.000', '0.003000') 2.40 GHz
idle ('2.000', '0.002000') idle state C2
run ('2.000', '0.001000') o<n>e&":11 runs
run ('3.000', '0.003000') two:12 runs
run ('3.000', '0.006000') o<n>e&":11 runs
wait ('1.000', '0.005000') o<n>e&":11 waits for a CPU
wait ('3.000', '0.006000') two:12 waits for a CPU
W
diff wanted found || fail "other spans"
grep -q 'CPU 1' made.svg && grep -q 'id="chart"' made.svg || fail "no lanes"
tacho timechart -i made.data -T -o tasks.svg 2>err
grep -q '>CPU 0<' tasks.svg && fail "-T draws CPUs"
tacho timechart -i made.data -P -o power.svg 2>err
spans power.svg | cut -d' ' -f1 | sort | uniq -c | tr -s ' ' >kinds
[ "$(cat kinds)" = "$(printf ' 1 freq\n 1 idle')" ] || fail "-P: $(cat kinds)"
tacho timechart -i made.data -T -p two -o - 2>err >one.svg
grep -q 'two:12' one.svg && ! grep -q 'e&amp;&quot;:11<' one.svg || fail "-p"
tacho timechart -i made.data -T -n 1 -o one.svg 2>err
grep -q 'two:12<tspan' one.svg && fail "-n 1 shows the shorter task"
tacho timechart -i made.data -T --highlight two -w 400 -o mark.svg 2>err
grep -q 'class="run mark"' mark.svg || fail "nothing is highlighted"
tacho timechart -i made.data -T --highlight 4000000 -o mark.svg 2>err
[ "$(grep -c 'class="run mark"' mark.svg)" = 2 ] || fail "not the task that ran 5 ms"
tacho timechart -i made.data -t --time 0.002,0.004 -o part.svg 2>err && grep -q 'data-to="0.004' part.svg || fail "--time"
refused 129 tacho timechart -P -T -i made.data
refused 129 tacho timechart more
refused 129 tacho timechart record -I -T true
refused 129 tacho timechart --io-min-time 1x -i made.data
refused 129 tacho timechart -w 1
refused 1 tacho timechart -i made.data -o no/such/file
survives 100 made.data timechart -o out.svg
