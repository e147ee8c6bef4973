# Wrong usage, other inputs, filters, percentiles, and what is said where something is missing.
. "$SUPPORT/lib.sh"
need xz
xz -dc "$TEST_DATA/recordings/sched/same-as-perf/sched.data.xz" >sched.data
wrong() {	# TEXT ARG...
	text=$1
	shift
	[ "$(status_of tacho sched "$@")" = 129 ] && [ ! -s out ] || fail "not refused: $*"
	grep -q -e "$text" err || fail "$*: $(cat err)"
}
wrong 'what to do?'
wrong "'show' is none of record" show
wrong "'extra' is not expected" latency extra
wrong "'extra' is not expected" timehist extra
wrong "'extra' is not expected" map extra
wrong "'foo' is not a sort key" latency -s avg,foo
wrong "'x' is not a percentage" latency --percentiles=x
wrong "'101' is not a percentage" latency --percentiles=101
wrong 'one CPU' latency -C 0-1 -i sched.data
wrong '-s prints no lines' timehist -s -w
wrong '-s prints the tables of all CPUs' timehist -s -C 0
wrong 'takes numbers' timehist -p x
wrong 'takes numbers' timehist -C a-b
wrong 'takes one range' timehist --time 1,2 --time '1,2 3,4' -i sched.data
wrong 'needs --task-name' map --fuzzy-name
wrong 'not supported' latency -D
for verb in latency timehist map; do
	[ "$(status_of tacho sched $verb -i missing)" = 1 ] && grep -q missing err || fail "$verb -i missing: $(cat err)"
done
# Options before the verb, and another way to the same recording.
for verb in latency "timehist -w" map; do
	tacho sched $verb -i sched.data >want
	tacho sched -i sched.data $verb | diff want - || fail "-i before $verb"
	tacho inject -i sched.data -o - >pipe.data
	tacho sched $verb -i - <pipe.data | diff want - || fail "$verb of a pipe"
	cat pipe.data | tacho sched $verb -f | diff want - || fail "$verb of stdin"
done
tacho sched script -i sched.data -F event >want
tacho sched -i sched.data script -F event | diff want - || fail "script"
grep -q sched_switch want || fail "script shows nothing"
# Percentiles are those of the delays that timehist shows.
tacho sched latency -p --json --percentiles=0,50,75,99.9,100 -i sched.data >latency.json
tacho sched timehist --json -w -M -i sched.data >timehist.json
python3 - <<'P'
import json, math
rows = {r['tid']: r for r in json.load(open('latency.json'))['tasks']}
d = json.load(open('timehist.json'))
delays = {}
for e in d['events']:
    if e['kind'] == 'switch' and e['start_ns'] and e['delay_ns'] and e['task']['comm'] != '<idle>':
        delays.setdefault(e['task']['tid'], []).append(e['delay_ns'])
same = 0
for tid, row in rows.items():
    mine = sorted(delays.get(tid, []))
    # The first and the last delay may be missing in one of them.
    if len(mine) != row['delays']:
        continue
    for percent, value in row['percentiles_ns'].items():
        rank = max(1, math.ceil(len(mine) * float(percent) / 100))
        assert value == mine[rank - 1], (tid, percent, value, mine)
    same += 1
assert same > 20, same
P
tacho sched latency --percentiles=50,99 -i sched.data >out
grep -q ' p50 ms |      p99 ms |$' out && grep -qE '^  sched-pipe:.* s \| +[0-9.]+ \| +[0-9.]+ \|$' out || fail "$(cat out)"
# Times: the windows of two halves together have all runs.
tacho sched timehist --json -i sched.data >all.json
read -r from middle <<END
$(python3 -c "
import json
e = [e['time_ns'] for e in json.load(open('all.json'))['events']]
print('%.9f %.9f' % (e[0] / 1e9, (e[0] + e[-1]) / 2e9))")
END
tacho sched timehist --json --time ",$middle" -i sched.data >first.json
tacho sched timehist --json --time "$middle," -i sched.data >second.json
python3 - "$middle" <<'P'
import json, sys
whole, first, second = (json.load(open(name + '.json')) for name in ('all', 'first', 'second'))
middle = int(sys.argv[1].replace('.', ''))
assert all(e['time_ns'] <= middle for e in first['events']) and all(e['time_ns'] >= middle for e in second['events'])
total = lambda d: sum(e['run_ns'] for e in d['events'])
# The runs over the middle are in both.
assert abs(total(first) + total(second) - total(whole)) < 1000, (total(first), total(second), total(whole))
P
tacho sched latency --time ",$middle" --json -i sched.data >a.json
tacho sched latency --time "$middle," --json -i sched.data >b.json
tacho sched latency -C 0 --json -i sched.data >c.json
tacho sched latency -C 1 --json -i sched.data >d.json
tacho sched latency --json -i sched.data >e.json
python3 - <<'P'
import json
a, b, c, d, e = (json.load(open(n + '.json'))['delays'] for n in 'abcde')
assert a + b == c + d == e and min(a, b, c, d) > 0, (a, b, c, d, e)
P
# A task of a name; only lines of its switches.
tacho sched map --task-name sched-pipe -i sched.data >out
grep -q '=> sched-pipe:' out && ! grep -q '=> sh:' out || fail "$(head out)"
tacho sched map --task-name pip --fuzzy-name -i sched.data | diff out - || fail "--fuzzy-name"
tacho sched map --cpus 1 -i sched.data >out
! grep -qvE '^  [* ]..   +[0-9.]+ secs' out || fail "--cpus: $(grep -vE '^  [* ]..   +[0-9.]+ secs' out | head -n 3)"
tacho sched map --json -i sched.data | python3 -c "
import json, sys
d = json.load(sys.stdin)
assert d['schema'] == 'tacho.sched-map/1' and len(d['switches']) > 100"
# A recording without events of the scheduler.
tacho record -q -e task-clock -o other.data true 2>err || skip "cannot record"
for verb in latency timehist map; do
	[ "$(status_of tacho sched $verb -i other.data)" = 1 ] && [ ! -s out ] && grep -q 'none of the tracepoints' err || fail "$verb: $(cat err)"
done
