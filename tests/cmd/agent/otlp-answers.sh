# OTLP: a receiver that keeps only a part is heard, points it rejected are counted and said once; what
# it refuses for good does not hold up what follows; and it is stopped and started again.
# run: slow
. "$SUPPORT/lib.sh"
. "$SUPPORT/agent.sh"
need curl python3 jq
need_counting
agent_head tacho.toml
port=$(free_port)
cat >>tacho.toml <<END
[[source]]
name = "self"
events = ["task-clock"]
pids = [$$]
interval = "200ms"
[[export]]
type = "otlp"
url = "http://127.0.0.1:$port"
gzip = false
flush = "200ms"
sources = ["self"]
[[export]]
type = "jsonl"
path = "$PWD/points.jsonl"
flush = "200ms"
sources = ["self"]
END
answer() {	# STATUS, BODY as printf's format
	printf "$2" >got/answer.body
	echo "$1" >answer.new && mv answer.new got/answer
}
newest() { ls got/*.json | sed 's|got/||; s|.json||' | sort -n | tail -n 1; }
more() { wait_for 20 test -s "got/$(($(newest) + ${1:-2})).json"; }
value() { curl -fsS -m 5 "$agent_url/api/v1/exporters" | jq ".exporters[0].$1"; }	# /metrics is a second behind

start_receiver "$port" got
start_agent tacho.toml
wait_for 20 test -s got/1.json
more
[ "$(value dropped_points)" = 0 ] || fail "points were dropped"

# partial_success { rejected_data_points: 1, error_message: "too old\a" }
answer 200 '\012\014\010\001\022\010too old\007'
wait_for 20 metric_is 'tacho_exporter_dropped_points_total{exporter="otlp"' '[1-9][0-9]*'
more 3
[ "$(value connected)" = true ] || fail "it takes what comes, and is up"
# A warning without rejected points, and answers that are no such message, lose nothing.
answer 200 '\012\012\022\010no units'
more
before=$(value dropped_points)
for body in '' '\012' '\012\377\377\377\377\377\377\377\377\377\177' '\012\002\010' '{"partialSuccess":{}}' '\377'; do
	answer 200 "$body"
	more
done
[ "$(value dropped_points)" = "$before" ] || fail "$before points were dropped, now $(value dropped_points)"
[ "$(grep -c 'rejected 1 points: too old?$' agent.err)" = 1 ] || { cat agent.err >&2; fail "not said, or not once"; }

# For good: 500 as well, which OTLP does not allow to repeat. Each body comes once.
for status in 400 401 404 413 500 501; do
	answer "$status" 'no\n'
	wait_for 20 sh -c "grep -l '\"status\": $status' got/*.json"
done
rm got/answer
more
[ "$(value retries)" = 0 ] || fail "what must not be repeated was"
# Later.
answer 502 'later\n'
wait_for 20 metric_is 'tacho_exporter_retries_total{exporter="otlp"' '[1-9]'
rm got/answer
more

# Stopped and started again.
end "$receiver_pid"
n=$(newest)
wait_for 20 metric_is 'tacho_exporter_up{exporter="otlp"' 0
sleep 1
mkdir again
start_receiver "$port" again
wait_for 60 metric_is 'tacho_exporter_up{exporter="otlp"' 1
wait_for 20 test -s again/3.json
stop_agent
python3 - <<'END'
import glob, json, re, struct
from datetime import datetime, timezone
# Times of points stand in the body as fixed64 of field 3: each once among those that were taken, none missing.
def ns_of(text):
    seconds = datetime.strptime(text[:19], "%Y-%m-%dT%H:%M:%S").replace(tzinfo=timezone.utc)
    return int(seconds.timestamp()) * 1000000000 + int(text[20:29])
def bodies(d):
    return sorted(glob.glob(d + "/*.json"), key=lambda p: int(re.search(r"(\d+)\.json", p)[1]))
status, seen = [], []
for path in bodies("got") + bodies("again"):
    body = open(path[:-5] + ".body", "rb").read()
    code = json.load(open(path))["status"]
    times = [struct.unpack_from("<Q", body, m.start() + 10)[0]
             for m in re.finditer(rb"(?=\x11.{8}\x19.{8})", body, re.S)]
    times = [t for t in times if 1.5e18 < t < 4e18]
    assert times, path
    if code not in (429, 502, 503, 504):
        seen += times
wrong = [(a, b) for a, b in zip(seen, seen[1:]) if b <= a]
assert not wrong, f"twice, or out of order: {wrong}"
points = [json.loads(line) for line in open("points.jsonl")]
counted = {ns_of(p["time"]) for p in points if p["value"] is not None}	# a process that has not run yet has none
missing = sorted(counted - set(seen))
assert not missing, f"points are missing: {missing}"
assert len(seen) > 40, len(seen)
END
end "$receiver_pid"
