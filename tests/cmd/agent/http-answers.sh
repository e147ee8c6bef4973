# What a receiver answers decides: later (with Retry-After, in seconds or as a date), never, or
# taken. Tokens, headers and one connection that stays open.
. "$SUPPORT/lib.sh"
. "$SUPPORT/agent.sh"
need curl python3 jq
need_counting
agent_head tacho.toml
port=$(free_port)
echo s3cret >token
cat >>tacho.toml <<END
[[source]]
name = "self"
events = ["task-clock"]
pids = [$$]
interval = "200ms"
[[export]]
type = "influxdb"
url = "http://127.0.0.1:$port"
database = "a&b"
token = { file = "$PWD/token" }
headers = { X-Team = "blue moon" }
flush = "200ms"
sources = ["self"]
END
start_receiver "$port" got
start_agent tacho.toml
wait_for 20 test -s got/3.json
jq -e '.path == "/write?precision=ns&db=a%26b" and .headers.authorization == "Bearer s3cret"
	and .headers["x-team"] == "blue moon" and (.headers["user-agent"] | startswith("tacho/"))
	and .connections == 1' got/3.json >/dev/null || { cat got/3.json >&2; fail "request"; }
grep -q '^perf_task_clock_seconds,comm=sh,.*host=.*,rack=r\\ 1,.*source=self value=[0-9.e-]* [0-9]*$' got/3.body ||
	{ cat got/3.body >&2; fail "line"; }

answer() { echo "$*" >answer.new && mv answer.new got/answer; }
newest() { ls got/*.json | sed 's|got/||; s|.json||' | sort -n | tail -n 1; }

# Later: nothing is lost, the same body comes again, and not before its time.
answer 503 Retry-After: 2
wait_for 20 metric_is 'tacho_exporter_retries_total{exporter="influxdb"' '[1-9]'
n=$(newest)
[ "$(jq .status "got/$n.json")" = 503 ] || fail "the last answer was not 503"
curl -fsS "$agent_url/metrics" | grep '^tacho_exporter_up{exporter="influxdb"' | grep -q ' 0$' || fail "up"
rm got/answer
wait_for 20 test -s "got/$((n + 2)).json"
cmp "got/$n.body" "got/$((n + 1)).body" || fail "another body came first"
grep -q "answered 503: receiver's own words" agent.err || { cat agent.err >&2; fail "the failure is not reported"; }
wait_for 10 metric_is 'tacho_exporter_up{exporter="influxdb"' 1

# A date in the past or far in the future does not block the exporter.
answer "429 Retry-After: $(LC_ALL=C date -u -d '+2 seconds' '+%a, %d %b %Y %H:%M:%S GMT')"
n=$(newest)
wait_for 20 sh -c "grep -l '\"status\": 429' got/*.json"
rm got/answer
wait_for 30 test -s "got/$((n + 3)).json"
none_dropped influxdb

# Somewhere else: kept, not followed, and told.
answer "308 Location: http://127.0.0.1:$port/elsewhere"
n=$(newest)
wait_for 20 sh -c "grep -l '\"status\": 308' got/*.json"
is_redirected() {
	curl -fsS "$agent_url/api/v1/exporters" | grep -q "redirected to http://127.0.0.1:$port/elsewhere: set url to that address"
}
wait_for 20 is_redirected
rm got/answer
wait_for 30 test -s "got/$((n + 3)).json"
grep -l '"path": "/elsewhere' got/*.json && fail "followed a redirect"
none_dropped influxdb

# Never: dropped, counted, and the next ones go on.
answer 400
wait_for 20 metric_is 'tacho_exporter_dropped_points_total{exporter="influxdb"' '[1-9][0-9]*'
rm got/answer
wait_for 20 metric_is 'tacho_exporter_up{exporter="influxdb"' 1
stop_agent

# Each point is in one body that was taken or refused, in order.
python3 - <<'END'
import glob, json
bodies = sorted(glob.glob("got/*.json"), key=lambda p: int(p[4:-5]))
times = []
for path in bodies:
    if json.load(open(path))["status"] in (204, 400):
        times += [int(line.split()[-1]) for line in open(path[:-5] + ".body")]
wrong = [(a, b) for a, b in zip(times, times[1:]) if b <= a]
assert not wrong, f"twice, or out of order: {wrong}"
assert len(times) > 15, len(times)
END
end "$receiver_pid"
