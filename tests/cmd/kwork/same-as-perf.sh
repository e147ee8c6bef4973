# The tables are those of perf 7, line by line; of `top` without the names of tasks, of which perf shows older ones.
. "$SUPPORT/lib.sh"
. "$SUPPORT/stored.sh"
. "$SUPPORT/newest.sh"
stored kwork.data tacho kwork -k irq,softirq,sched record -q -o kwork.data -- sh -c 'cat /etc/* >/dev/null 2>&1; sleep 0.1'
same() {	# OPTION...
	newest_says kwork "$@" -i kwork.data | grep -v 'INFO:\|load average' >perf.txt
	tacho kwork "$@" -i kwork.data 2>err | grep -v 'load average' >tacho.txt
	[ "$(wc -l <perf.txt)" -gt 5 ] || fail "perf shows nothing: $*"
	diff perf.txt tacho.txt || fail "not the same: $*"
}
for options in "report" "report -k softirq" "report -s max" "report -n RCU" "latency" "latency -s max" "timehist"; do
	same $options
done
for options in "" "-s tid"; do
	newest_says kwork top $options -i kwork.data | cut -c 1-36 | grep . >perf.txt
	tacho kwork top $options -i kwork.data | cut -c 1-36 | grep . >tacho.txt
	# Times of CPUs are rounded differently in the last digit, where interrupts fall into softirqs.
	sed -i '/^%Cpu/d' perf.txt tacho.txt
	awk '{ print $1, $3 }' perf.txt | sort >perf.rows
	awk '{ print $1, $3 }' tacho.txt | sort >tacho.rows
	python3 - <<'P' || fail "not the same: top $options"
a, b = (dict(l.split(None, 1) for l in open(n) if len(l.split()) == 2) for n in ('perf.rows', 'tacho.rows'))
assert set(a) == set(b), set(a) ^ set(b)
for k in a:
    try:
        x, y = float(a[k]), float(b[k])
    except ValueError:
        continue
    assert abs(x - y) <= 0.05 + 0.02 * x, (k, x, y)
P
done
