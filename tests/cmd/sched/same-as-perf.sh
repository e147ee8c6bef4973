# latency, timehist and map show what perf 7 shows, line by line. Left out is what perf has wrong: it forgets a task at its
# EXIT record, does not know the names of some, and shows a delay of idle tasks.
. "$SUPPORT/lib.sh"
. "$SUPPORT/stored.sh"
. "$SUPPORT/newest.sh"
# Two programs that compete for a CPU, sleepers, a pair that talks over pipes, and one that is moved from CPU to CPU.
cat >work.sh <<'END'
(timeout 0.3 taskset -c 1 sh -c 'while :; do :; done') & (timeout 0.3 taskset -c 1 sh -c 'while :; do :; done') &
for i in 1 2; do (for k in 1 2 3 4 5; do sleep 0.01; done) & done
perf bench sched pipe -l 100 >/dev/null &
(sh -c 'i=0; while [ $i -lt 10 ]; do taskset -cp $((i % 2)) $$ >/dev/null; i=$((i + 1)); done') &
wait
END
# Some kernels lose events of idle tasks now and then, so recordings are made until one is complete.
record_all() {
	for try in 1 2 3 4 5 6 7 8 9 10; do
		live_perf sched record -q -o sched.data sh work.sh && tacho sched latency -i sched.data >latency
		grep -q INFO latency || return 0
	done
}
stored sched.data record_all
compare() {	# COMMAND...
	newest_says sched "$@" -i sched.data >perf.txt
	tacho sched "$@" -i sched.data >tacho.txt 2>err
	[ "$(wc -l <perf.txt)" -gt 2 ] || fail "perf shows nothing: $*"
	python3 compare.py perf.txt tacho.txt || fail "not the same: $*"
}
cat >compare.py <<'P'
import re, sys
theirs, ours = ([line.rstrip() for line in open(path)] for path in sys.argv[1:])
# What perf has at the start only.
ours = [line for line in ours if 'INFO' not in line]
theirs = [line for line in theirs if 'INFO' not in line]
assert len(theirs) == len(ours), (len(theirs), len(ours))
NAME = re.compile(r'\S[^\[\]]{0,14}\[(?:-1/)?(\d+)(?:/\d+)?\]|:\d+:?(\d*)|\S{1,15}:(\d+)')
TIMES = re.compile(r'(\] .{32,40}?) +(\d+\.\d{3}) +(\d+\.\d{3}) +(\d+\.\d{3})')
exited, differ = set(), 0
for p, t in zip(theirs, ours):
    if p == t:
        continue
    tid = re.search(r'\[(\d+)(?:/\d+)?\] ', t[20:])
    if TIMES.search(t) and (TIMES.search(p) and TIMES.search(p).group(2, 3) == ('0.000', '0.000') or '[-1' in p):
        # The rest of a task that perf has forgotten.
        exited.add(tid.group(1) if tid else '')
        continue
    unnamed = re.search(r':\d+(?::\d+)?', p[20:])
    if '<idle>' in p and '<idle>' in t and p[:46] == t[:46] and p.split()[-1:] == t.split()[-1:]:
        continue
    if unnamed and p[:18] == t[:18] or ':' in p[:4] and p[26:] == t[26:]:
        continue
    differ += 1
    print(p, t, sep='\n')
sys.exit(differ > 0)
P
compare timehist
compare timehist -w
compare timehist -w -M
compare timehist --state -M
compare timehist --next
compare timehist -P --show-prio
compare timehist -I
compare timehist -C 1
compare timehist --prio 0-99
compare latency -p
compare map --compact
compare map
# Of the tables at the end, tasks that still run.
summary() { awk '/^Terminated/ { exit } /\[[0-9\/]*\] +[0-9]/ && !/\[-1/ && !/ -1 / { print }' | sed 's/  */ /g' | sort; }
for options in "-s -M" "-s --state -M"; do
	newest_says sched timehist $options -i sched.data | summary >perf.txt
	tacho sched timehist $options -i sched.data | summary >tacho.txt
	[ -s perf.txt ] || fail "perf shows no task: $options"
	[ "$(comm -23 perf.txt tacho.txt | wc -l)" -le "$(($(wc -l <perf.txt) / 10))" ] || fail "$options: $(comm -23 perf.txt tacho.txt | head)"
done
for option in -s -I; do
	newest_says sched timehist -s $option -i sched.data | grep 'CPU.*idle for' >perf.txt || true
	tacho sched timehist -s $option -i sched.data | grep 'CPU.*idle for' | diff perf.txt - || fail "idle time $option"
done
