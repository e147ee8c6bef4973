# InfluxDB takes the line protocol and remote write; it is stopped and started again, and every
# point is there once, as `tacho stat` counted it.
# run: slow
. "$SUPPORT/lib.sh"
. "$SUPPORT/agent.sh"
need influxd curl python3 jq
need_counting
start_load
agent_head tacho.toml
port=$(free_port)
influx=http://127.0.0.1:$port
cat load.toml - >>tacho.toml <<END
[[export]]
type = "influxdb"
url = "$influx"
database = "tacho db"
flush = "300ms"
[[export]]
type = "remote_write"
url = "$influx/api/v1/prom/write?db=prom"
flush = "300ms"
[[export]]
type = "jsonl"
path = "$PWD/points.jsonl"
flush = "300ms"
END
cat >influx.conf <<END
reporting-disabled = true
bind-address = "127.0.0.1:$(free_port)"
[meta]
  dir = "$PWD/meta"
[data]
  dir = "$PWD/data"
  wal-dir = "$PWD/wal"
[http]
  bind-address = "127.0.0.1:$port"
  log-enabled = false
END

start_influx() {
	influxd -config influx.conf >>influx.log 2>&1 &
	influx_pid=$!
	wait_url 30 "$influx/ping"
}

ask() {	# DATABASE QUERY
	curl -fsS -m 10 "$influx/query" --data-urlencode "db=$1" --data-urlencode "epoch=ns" --data-urlencode "q=$2"
}

newest() {	# DATABASE QUERY VALUE
	ask "$1" "$2" | jq -e --argjson v "$3" '.results[0].series[0].values[0][1] == $v'
}

start_influx
ask x 'CREATE DATABASE "tacho db"' >/dev/null
ask x 'CREATE DATABASE "prom"' >/dev/null
start_agent tacho.toml
work_load 1 20000
faults=$(curl -fsS "$agent_url/metrics" | sed -n 's/^perf_page_faults_total{.*} //p')
wait_for 20 newest "tacho db" 'SELECT last(value) FROM perf_page_faults' "$faults"
end "$influx_pid"
work_load 2 30000
sleep 1
start_influx
work_load 3 10000
faults=$(curl -fsS "$agent_url/metrics" | sed -n 's/^perf_page_faults_total{.*} //p')
wait_for 30 newest "tacho db" 'SELECT last(value) FROM perf_page_faults' "$faults"
wait_for 30 newest "prom" 'SELECT last(value) FROM perf_page_faults_total' "$faults"
stop_agent
ask "tacho db" "SELECT value FROM perf_page_faults WHERE source = 'load' AND rack = 'r 1' GROUP BY *" >got.json
"$SUPPORT/compare-points" influxdb got.json points.jsonl load perf_page_faults 10 >last
ask "tacho db" "SELECT value FROM perf_task_clock_seconds WHERE source = 'load' GROUP BY *" >got.json
"$SUPPORT/compare-points" influxdb got.json points.jsonl load perf_task_clock 10 >last_clock
# Counts are integers there, times are not.
ask "tacho db" 'SHOW FIELD KEYS FROM perf_page_faults' | jq -e '.results[0].series[0].values == [["value", "integer"]]' >/dev/null
ask "tacho db" 'SHOW FIELD KEYS FROM perf_task_clock_seconds' | jq -e '.results[0].series[0].values == [["value", "float"]]' >/dev/null
end_load
within 1 "$(cat last)" "$(csv_value page-faults stat.csv)"
within 1 "$(cat last_clock)" "$(awk -F, '$3 == "task-clock" { print $1 / 1000 }' stat.csv)"
end "$influx_pid"
