# Profiles to Pyroscope's /ingest: every window as pprof, under its name and times. The receiver is stopped
# and started again: each window is there once, in order, none is missing.
# run: slow
. "$SUPPORT/lib.sh"
. "$SUPPORT/agent.sh"
need curl python3 jq
port=$(free_port)
agent_head head.toml
sed '/^\[profile\]/,$d' head.toml >tacho.toml
cat >>tacho.toml <<END
default_sources = false
[profile]
event = "cpu-clock"
frequency = 97
window = "1s"
[[export]]
type = "pyroscope"
url = "http://127.0.0.1:$port"
application = "shop"
END
mkdir state
(while :; do :; done) &	# something to sample, in every window
busy=$!
trap 'kill $busy 2>/dev/null || true' EXIT
start_receiver "$port" got
start_agent tacho.toml
curl -fsS "$agent_url/api/v1/status" | jq -e .profiler.running >/dev/null || skip "this machine cannot be sampled"
value() { curl -fsS -m 5 "$agent_url/api/v1/exporters" | jq ".exporters[0].$1"; }
is() { [ "$(value "$1")" = "$2" ]; }
wait_for 30 test -s got/3.json
end "$receiver_pid"
wait_for 30 is connected false
sleep 3
start_receiver "$port" again
wait_for 90 is connected true
wait_for 30 test -s again/5.json
is dropped_points 0 || fail "$(value dropped_points) samples were dropped"
stop_agent
end "$receiver_pid"
python3 - <<'END'
import glob, gzip, json, re
from urllib.parse import urlsplit, parse_qs
def bodies(d):
    return sorted(glob.glob(d + "/*.json"), key=lambda p: int(re.search(r"(\d+)\.json", p)[1]))
last = None
for path in bodies("got") + bodies("again"):
    url = urlsplit(json.load(open(path))["path"])
    args = {k: v[0] for k, v in parse_qs(url.query).items()}
    assert url.path == "/ingest" and args["format"] == "pprof", url
    assert re.fullmatch(r"shop\{host=[^,]+,rack=r 1\}", args["name"]), args["name"]
    assert b"cpu-clock" in gzip.decompress(open(path[:-5] + ".body", "rb").read())
    since, until = int(args["from"]), int(args["until"])
    assert since < until, args
    if last:
        assert since >= last[0], f"out of order: {last} {args}"
        assert since > last[0] or until > last[1], f"twice: {last} {args}"
        assert since <= last[1], f"a window is missing: {last} {args}"
    last = since, until
assert last
END
