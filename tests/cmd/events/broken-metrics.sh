# Metrics whose expression is invalid are named with the reason, and the exit status is 1; those that are valid do no
# harm, also in a file without events.
. "$SUPPORT/lib.sh"
need python3
export XDG_CACHE_HOME="$PWD/cache"
cat >good.json <<'J'
[{"MetricName": "half", "MetricExpr": "page\\-faults / 2", "BriefDescription": "x"}]
J
cat >broken.json <<'J'
[{"MetricName": "half", "MetricExpr": "page\\-faults / 2", "BriefDescription": "x"},
 {"MetricName": "open", "MetricExpr": "(page\\-faults / 2", "BriefDescription": "x"},
 {"MetricName": "alarm", "MetricExpr": "page\\-faults", "MetricThreshold": "alarm > * 2", "BriefDescription": "x"}]
J
tacho events check good.json >out || fail "$(cat out)"
grep -qx '1 metrics: 1 valid, 0 broken' out || fail "$(cat out)"
[ "$(status_of tacho events check broken.json)" = 1 ] || fail "broken metrics, but status 0: $(cat out err)"
grep -q '^open  broken: ' out || fail "$(cat out err)"
grep -q '^alarm  broken: ' out || fail "$(cat out err)"
grep -qx '3 metrics: 1 valid, 2 broken' out || fail "$(cat out)"
[ "$(status_of tacho events check --json broken.json)" = 1 ] || fail "status 0 with --json"
python3 - <<'P'
import json
answer = json.load(open("out"))
assert {m["name"]: m["error"] is None for m in answer["metrics"]} == {"half": True, "open": False, "alarm": False}, answer
assert answer["broken_metrics"] == 2 and answer["events"] == [], answer
P
