# The pprof of a range, read by pprof-format (npm): as many samples as the flame graph has, and the
# function that burnt.
# run: slow
. "$SUPPORT/lib.sh"
. "$SUPPORT/flame.sh"
need python3 node gzip
PYTHONPATH=$SUPPORT python3 - <<'END'
from agent_profile import *

agent = Agent('[profile]\nfrequency = 97\nwindow = "1s"\nevent = "cpu-clock"\n')
agent.start()
agent.needs_profile()
started = now_ms()
burn(1500).wait()
ended = now_ms()
agent.settle(ended)
with agent.open(f"/api/v1/flame?from={started}&to={ended}&format=pprof") as r, open("out.pb.gz", "wb") as f:
    f.write(r.read())
with open("total", "w") as f:
    f.write(str(agent.get("/api/v1/flame", **{"from": started, "to": ended})["total"]))
agent.stop()
END
gzip -t out.pb.gz
npm_packages pprof-format
cat >check.cjs <<'END'
const fs = require("fs"), zlib = require("zlib"), { Profile } = require("pprof-format");
const p = Profile.decode(zlib.gunzipSync(fs.readFileSync("out.pb.gz")));
const text = (i) => p.stringTable.strings[Number(i)];
const check = (what, ok) => { if (!ok) { console.error(what); process.exit(1); } };
const locations = new Map(p.location.map((l) => [Number(l.id), l]));
const functions = new Map(p.function.map((f) => [Number(f.id), text(f.name)]));
const leaf = (s) => functions.get(Number(locations.get(Number(s.locationId[0])).line[0].functionId));
check("total", p.sample.reduce((n, s) => n + Number(s.value[0]), 0) === Number(process.argv[2]));
check("burn", p.sample.some((s) => leaf(s) === "burn"));
END
node check.cjs "$(cat total)"
