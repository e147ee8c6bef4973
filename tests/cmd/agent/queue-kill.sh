# The agent is killed again and again while its receiver is away: what was in the queue on disk comes
# when the receiver is back, once, in order, and nothing of it was dropped.
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
events = ["task-clock", "page-faults"]
pids = [$$]
interval = "20ms"
[[export]]
type = "influxdb"
url = "http://127.0.0.1:$port"
database = "d"
flush = "100ms"
max_points = 4
sources = ["self"]
END
queued() { find state -path '*queue/influxdb*' -type f -name '????????????????' | wc -l; }
more_than() { [ "$(queued)" -gt "$1" ]; }
for i in 1 2 3 4 5 6; do
	start_agent tacho.toml
	wait_for 20 more_than $((i * 20))
	kill -9 "$agent_pid"
	wait "$agent_pid" 2>/dev/null || true
	queued >before
done
find state -path '*queue/influxdb*' -type f -name '????????????????' | sort | xargs -n 1 tail -n +2 >waiting
start_receiver "$port" got
start_agent tacho.toml
done_with() { curl -fsS "$agent_url/metrics" | grep '^tacho_exporter_sent_points_total{exporter="influxdb"' |
	awk -v n="$(wc -l <waiting)" '{ exit !($NF > n) }'; }
wait_for 30 done_with
none_dropped influxdb
stop_agent
[ "$(queued)" = 0 ] || fail "something is left in the queue"
python3 - <<'END'
import glob
got = [l for p in sorted(glob.glob("got/*.body"), key=lambda p: int(p[4:-5])) for l in open(p)]
waiting = list(open("waiting"))
assert len(waiting) > 200, len(waiting)
assert got[:len(waiting)] == waiting, "what waited did not come first, in order"
keys = [(l.split(" ")[0], l.split()[-1]) for l in got]
assert len(set(keys)) == len(keys), "something came twice"
END
end "$receiver_pid"
