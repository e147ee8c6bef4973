# A reload leaves an export that stays as it is alone, ends one that has gone, and starts one that is
# new or has changed, which also gets what the old one had not sent.
. "$SUPPORT/lib.sh"
. "$SUPPORT/agent.sh"
need curl python3 jq
need_counting
agent_head base.toml
port=$(free_port)
dead=$(free_port)
cat >>base.toml <<END
[[source]]
name = "self"
events = ["task-clock"]
pids = [$$]
interval = "200ms"
[[export]]
name = "stays"
type = "influxdb"
url = "http://127.0.0.1:$port"
database = "stays"
flush = "200ms"
sources = ["self"]
END
cat base.toml - >tacho.toml <<END
[[export]]
name = "moves"
type = "influxdb"
url = "http://127.0.0.1:$dead"
database = "moves"
flush = "200ms"
sources = ["self"]
[[export]]
name = "goes"
type = "csv"
path = "$PWD/goes.csv"
flush = "200ms"
sources = ["self"]
END
start_receiver "$port" got
start_agent tacho.toml
wait_for 20 test -s got/3.json
wait_for 20 test -s goes.csv
wait_for 20 metric_is 'tacho_exporter_retries_total{exporter="moves"' '[1-9]'
cat base.toml - >tacho.toml <<END
[[export]]
name = "moves"
type = "influxdb"
url = "http://127.0.0.1:$port"
database = "moves"
flush = "200ms"
sources = ["self"]
END
kill -HUP "$agent_pid"
wait_for 20 grep -q reloaded agent.err
wait_for 20 metric_is 'tacho_exporter_up{exporter="moves"' 1
size=$(wc -c <goes.csv)
sleep 1
[ "$(wc -c <goes.csv)" = "$size" ] || fail "an export that has gone still writes"
stop_agent
python3 - <<'END'
import glob, json
times, connections = {}, {}
for path in sorted(glob.glob("got/*.json"), key=lambda p: int(p[4:-5])):
    request = json.load(open(path))
    name = request["path"].split("db=")[1]
    connections.setdefault(name, set()).add(request["client"])
    times.setdefault(name, []).extend(int(l.split()[-1]) for l in open(path[:-5] + ".body"))
assert len(connections["stays"]) == 1, "its connection did not stay"
assert times["stays"] == times["moves"], (len(times["stays"]), len(times["moves"]))
assert times["stays"] == sorted(set(times["stays"])) and len(times["stays"]) > 10
END
end "$receiver_pid"
