# JSON: a line per refresh, and samples decay.
. "$SUPPORT/lib.sh"
need python3
tacho record -q -e cpu-clock:u -o probe.data true 2>err || skip "cannot record here: $(head -n 1 err)"
"$TEST_BIN/busy-threads" 1 600 &
busy=$!
trap 'kill $busy 2>/dev/null || true' EXIT
tacho top --json -F 500 -e cpu-clock:u -p $busy -d 0.4 --interval-count 4 </dev/null >out 2>err || { cat err; fail "top --json"; }
tacho top --json -z -F 500 -e cpu-clock:u -p $busy -d 0.4 --interval-count 2 -E 1 </dev/null >zero 2>err || { cat err; fail "top -z"; }
python3 - <<'P' || { cat out zero; exit 1; }
import json
lines = [json.loads(line) for line in open('out')]
assert len(lines) == 4
shown = 0
for line in lines:
    assert line['schema'] == 'tacho.top/1' and line['lost'] == 0 and line['seconds'] > 0.3 and line['own_cpu_percent'] >= 0
    event = line['events'][0]
    assert event['name'] == 'cpu-clock:u' and line['target'].startswith('PID: ')
    percent = {e['symbol']: e['self_percent'] for e in event['entries']}
    assert percent['most_work'] > percent.get('least_work', 0) > 0, percent
    # An eighth of what was shown is gone, rounded down row by row.
    expected = shown * 7 // 8 + line['samples']
    assert abs(event['samples'] - expected) <= 30, (event['samples'], expected)
    shown = event['samples']
zero = [json.loads(line) for line in open('zero')]
assert zero[1]['events'][0]['samples'] == zero[1]['samples'] and len(zero[1]['events'][0]['entries']) == 1, zero
P
