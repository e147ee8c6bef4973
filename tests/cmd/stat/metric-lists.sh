# -M with the metrics of a list: by name and by group, in every form of output, with intervals and runs.
. "$SUPPORT/lib.sh"
cat >list.json <<'J'
[ { "MetricName": "busy", "MetricExpr": "task\\-clock / duration_time", "MetricGroup": "Own", "ScaleUnit": "100%",
    "MetricThreshold": "busy > 0", "BriefDescription": "Share of one CPU" },
  { "MetricName": "fault_rate", "MetricExpr": "d_ratio(page\\-faults, duration_time / 1e9)", "MetricGroup": "Own;Rates",
    "ScaleUnit": "1per_sec", "BriefDescription": "Faults per second" },
  { "MetricName": "per_switch", "MetricExpr": "page\\-faults / max(context\\-switches, 1) + 0 * busy", "MetricGroup": "Rates" },
  { "MetricName": "missing", "MetricExpr": "NO_SUCH.EVENT / page\\-faults", "MetricGroup": "Rates" },
  { "MetricName": "loop", "MetricExpr": "loop + 1", "MetricGroup": "" },
  { "MetricName": "broken", "MetricExpr": "page\\-faults / / 2", "MetricGroup": "" } ]
J
tacho stat -x, --event-list list.json -M busy,Rates true 2>rows
sed 's/^,,,,,[0-9.]*,/,,,,,M,/; s/^[0-9.][0-9.]*,/V,/; s/,[0-9]*,100.00,[0-9.]*,/,R,100.00,M,/' rows
# The values agree with the counts.
tacho stat --json --event-list list.json -M Own,per_switch "$TEST_BIN/touch-pages" 300 2>rows
python3 - <<'P'
import json
d = json.load(open("rows"))
events = {e["event"]: e for e in d["events"]}
metrics = {m["name"]: m["value"] for e in d["events"] for m in e.get("metrics", [])}
assert set(metrics) == {"busy", "fault_rate", "per_switch"}, metrics
faults = events["page-faults"]["value"]
near = lambda a, b: abs(a / b - 1) < 1e-3
assert near(metrics["per_switch"], faults / max(events["context-switches"]["value"], 1)), d
assert near(metrics["busy"], 100 * events["task-clock"]["value"] * 1e-3 / d["elapsed_s"]), d
assert near(metrics["fault_rate"], faults / d["elapsed_s"]), d
P
tacho stat -j --event-list list.json -M busy true 2>rows
grep -q '"metric-unit" : "%  busy"' rows || fail "$(cat rows)"
tacho stat -I 50 --interval-count 2 -a -x, --event-list list.json -M fault_rate sleep 1 2>rows
[ "$(grep -c 'per_sec  fault_rate' rows)" = 2 ] || fail "$(cat rows)"
tacho stat -r 3 --event-list list.json -M fault_rate true 2>rows
grep -q 'per_sec  fault_rate' rows || fail "$(cat rows)"
tacho stat -a -A --metric-only -x, --event-list list.json -M fault_rate sleep 0.05 2>rows
[ "$(wc -l <rows)" = $(($(getconf _NPROCESSORS_ONLN) + 1)) ] || fail "$(cat rows)"
# Messages about wrong metrics and missing events.
refused 129 tacho stat --event-list list.json -M missing true
grep -q "metric 'missing' needs 'NO_SUCH.EVENT': no event is called 'NO_SUCH.EVENT'" err || fail "$(cat err)"
refused 129 tacho stat --event-list list.json -M loop true
grep -q "metric 'loop' refers to itself" err || fail "$(cat err)"
refused 129 tacho stat --event-list list.json -M broken true
grep -q "metric 'broken': the expression has .* (at column 16)" err || fail "$(cat err)"
refused 129 tacho stat --event-list list.json -M bussy true
grep -q "did you mean 'busy'" err || fail "$(cat err)"
# tacho list shows them with the built-in metrics, and instead of built-in metrics of the same name.
tacho list --event-list list.json metric | grep -A1 -x '  busy'
tacho list --event-list list.json metricgroup | grep -x '  Rates'
tacho list --event-list list.json --raw-dump metric | tr ' ' '\n' | grep -cx 'cs_per_second\|fault_rate\|missing'
tacho list -j --event-list list.json metric | python3 -c '
import json, sys
print(*[sorted(m.items()) for m in json.load(sys.stdin) if m.get("MetricName") == "busy"])'
# A threshold that uses another metric adds the events of that metric, unless --metric-no-threshold is given.
printf '[{"MetricName": "a", "MetricExpr": "task\\\\-clock", "MetricThreshold": "b > 0"},
 {"MetricName": "b", "MetricExpr": "page\\\\-faults / 2"}]' >limit.json
tacho stat -x, --event-list limit.json -M a true 2>rows
[ "$(grep -c page-faults rows)" = 1 ] || fail "$(cat rows)"
tacho stat -x, --event-list limit.json --metric-no-threshold -M a true 2>rows
[ "$(grep -c page-faults rows)" = 0 ] || fail "$(cat rows)"
# With --metric-no-merge, each metric has its own counter of the same event.
tacho stat -x, --event-list list.json --metric-no-merge -M fault_rate,per_switch true 2>rows
[ "$(grep -c ',page-faults,' rows)" = 2 ] || fail "$(cat rows)"
