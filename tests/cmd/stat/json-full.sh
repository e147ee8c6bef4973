# --json: one object with a schema; a missing value is null and has a reason.
. "$SUPPORT/lib.sh"
python3 - <<'PY'
import json, subprocess
for _ in range(3):	# again, if the machine was paused between the reads of the two clocks
    done = subprocess.run(["tacho", "stat", "--json", "-e", "page-faults,cycles,duration_time", "sleep", "0.3"],
                          stderr=subprocess.PIPE, check=True)
    r = json.loads(done.stderr)
    by = {e["event"]: e for e in r["events"]}
    agree = abs(by["duration_time"]["value"] / 1e9 - r["elapsed_s"]) < 0.5 * r["elapsed_s"]
    if agree:
        break
print(r["schema"], r["target"])
assert r["elapsed_s"] > 0 and r["user_s"] >= 0
assert by["page-faults"]["value"] > 0 and by["page-faults"]["state"] == "counting", by
assert agree, by
c = by["cycles"]
assert (c["value"] is None) == ("reason" in c), c
PY
