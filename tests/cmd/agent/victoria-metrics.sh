# VictoriaMetrics takes remote write, the line protocol and Graphite's plain text; it is stopped and
# started again, and every point is there, as `tacho stat` counted it.
# run: slow
. "$SUPPORT/lib.sh"
. "$SUPPORT/agent.sh"
need victoria-metrics curl python3 jq
need_counting
start_load
agent_head tacho.toml
port=$(free_port)
graphite=$(free_port)
vm=http://127.0.0.1:$port
cat load.toml - >>tacho.toml <<END
[[export]]
type = "remote_write"
url = "$vm/api/v1/write"
flush = "300ms"
[[export]]
type = "influxdb"
url = "$vm"
database = "influx"
flush = "300ms"
[[export]]
type = "graphite"
address = "127.0.0.1:$graphite"
style = "tags"
prefix = "g"
flush = "300ms"
[[export]]
name = "paths"
type = "graphite"
address = "127.0.0.1:$graphite"
prefix = "p"
flush = "300ms"
[[export]]
type = "jsonl"
path = "$PWD/points.jsonl"
flush = "300ms"
END

start_vm() {
	victoria-metrics -storageDataPath=data -httpListenAddr="127.0.0.1:$port" \
		-graphiteListenAddr="127.0.0.1:$graphite" -search.latencyOffset=0s -retentionPeriod=1y \
		-memory.allowedBytes=256MB >>vm.log 2>&1 &
	vm_pid=$!
	wait_url 30 "$vm/health"
}

stored() {	# SELECTOR: [[milliseconds, value], ...] of the one series
	curl -fsS -m 10 "$vm/api/v1/export" --data-urlencode "match[]=$1" |
		jq -sc 'if length == 1 then .[0] | [.timestamps, .values] | transpose else error("\(length) series") end'
}

newest() {	# SELECTOR VALUE
	stored "$1" | jq -e --argjson v "$2" '.[-1][1] == $v'
}

start_vm
start_agent tacho.toml
work_load 1 20000
faults=$(curl -fsS "$agent_url/metrics" | sed -n 's/^perf_page_faults_total{.*} //p')
wait_for 30 newest 'perf_page_faults_total{job="tacho"}' "$faults"
end "$vm_pid"
work_load 2 30000
sleep 1
start_vm
work_load 3 10000
faults=$(curl -fsS "$agent_url/metrics" | sed -n 's/^perf_page_faults_total{.*} //p')
wait_for 30 newest 'perf_page_faults_total{job="tacho"}' "$faults"
wait_for 30 newest 'perf_page_faults_value' "$faults"
wait_for 30 newest 'g.perf_page_faults' "$faults"
stop_agent
# It makes what it took searchable every second or so.
has_all() {	# LAST KIND LEAST SELECTOR [JQ]: every point; the last value is in the file LAST
	stored "$4" | jq -c "${5:-.}" >got.json &&
		"$SUPPORT/compare-points" "$2" got.json points.jsonl load perf_page_faults "$3" >"$1"
}
wait_for 30 has_all last pairs 10 'perf_page_faults_total{job="tacho",source="load",rack="r 1"}'
wait_for 30 has_all last_influx pairs 10 'perf_page_faults_value{source="load",rack="r 1",db="influx"}'
# By the second, so the last of each counts; one that was sent again is there twice, unchanged.
wait_for 30 has_all last_graphite pairs-s 3 'g.perf_page_faults{source="load",rack="r_1"}' \
	'map([(.[0] / 1000 | floor), .[1]]) | group_by(.[0]) | map(max_by(.[1]))'
has_dots() {
	stored '{__name__=~"p[.].*[.]perf_task_clock_seconds[.]rack_r_1[.]source_load"}' | jq -e 'length > 3'
}
wait_for 30 has_dots
end_load
for last in last last_influx last_graphite; do
	within 1 "$(cat $last)" "$(csv_value page-faults stat.csv)"
done
end "$vm_pid"
