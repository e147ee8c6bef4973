# Metrics that cannot be computed here are listed with the reason, and are not offered by --raw-dump.
. "$SUPPORT/lib.sh"
cat >list.json <<'J'
[ { "MetricName": "fault_rate", "MetricExpr": "page\\-faults / duration_time", "MetricGroup": "Rates" },
  { "MetricName": "missing", "MetricExpr": "NO_SUCH.EVENT / page\\-faults", "MetricGroup": "Rates" },
  { "MetricName": "uses_missing", "MetricExpr": "missing * 2" } ]
J
tacho list --event-list list.json missing fault_rate >out
cat out
tacho list -j --event-list list.json missing fault_rate uses_missing >json
python3 - <<'P2'
import json
metrics = {m["MetricName"]: m for m in json.load(open("json"))}
assert metrics["fault_rate"]["Available"] and "Reason" not in metrics["fault_rate"], metrics
for name in ("missing", "uses_missing"):
    assert not metrics[name]["Available"] and "'NO_SUCH.EVENT'" in metrics[name]["Reason"], metrics
P2
tacho list --event-list list.json --raw-dump metric | tr ' ' '\n' | grep -x 'fault_rate\|missing\|uses_missing'
# Also where the event's name is known, but the kernel does not open it.
has_pmu || {
	tacho list -j metric | python3 -c '
import json, sys
metric = next(m for m in json.load(sys.stdin) if m["MetricName"] == "insn_per_cycle")
assert metric["Available"] is False and metric["Reason"].startswith("it needs"), metric'
	tacho list insn_per_cycle | grep -q "not available: it needs" || fail "no reason"
}
