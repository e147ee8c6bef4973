# --json: one object with a schema; a missing value is null and has a reason.
. "$SUPPORT/lib.sh"
tacho stat --json -e page-faults,cycles,duration_time true 2>out.json
python3 - <<'PY'
import json
r = json.load(open("out.json"))
print(r["schema"], r["target"])
assert r["elapsed_s"] > 0 and r["user_s"] >= 0
by = {e["event"]: e for e in r["events"]}
assert by["page-faults"]["value"] > 0 and by["page-faults"]["state"] == "counting", by
assert abs(by["duration_time"]["value"] / 1e9 - r["elapsed_s"]) < 0.5 * r["elapsed_s"], by
c = by["cycles"]
assert (c["value"] is None) == ("reason" in c), c
PY
