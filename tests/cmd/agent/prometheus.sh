# Prometheus scrapes the agent and takes its remote write; both agree with `tacho stat`. It is
# stopped and started again meanwhile: every point is there once.
# run: slow
. "$SUPPORT/lib.sh"
. "$SUPPORT/agent.sh"
need prometheus promtool curl python3 jq
need_counting
start_load
agent_head tacho.toml
port=$(free_port)
prom=http://127.0.0.1:$port
cat load.toml - >>tacho.toml <<END
[[export]]
type = "remote_write"
url = "$prom/api/v1/write"
flush = "300ms"
[[export]]
type = "jsonl"
path = "$PWD/points.jsonl"
flush = "300ms"
END
cat >prometheus.yml <<END
global: { scrape_interval: 500ms }
scrape_configs:
- job_name: scraped
  authorization: { credentials_file: "$PWD/state/token" }
  static_configs: [{ targets: ["127.0.0.1:$agent_port"] }]
END

start_prometheus() {
	prometheus --config.file=prometheus.yml --storage.tsdb.path=data --web.enable-remote-write-receiver \
		--web.listen-address="127.0.0.1:$port" >>prometheus.log 2>&1 &
	prom_pid=$!
	wait_url 30 "$prom/-/ready"
}

ask() {	# QUERY
	curl -fsS -m 10 "$prom/api/v1/query" --data-urlencode "query=$1"
}

has() {	# QUERY VALUE
	ask "$1" | jq -e --argjson v "$2" '[.data.result[].value[1] | tonumber] | . == [$v]'
}

start_prometheus
start_agent tacho.toml
curl -fsS "$agent_url/metrics" | promtool check metrics >lint 2>&1 || { cat lint >&2; fail "promtool has complaints"; }
work_load 1 20000
wait_for 20 sh -c "curl -fsS -G $prom/api/v1/query --data-urlencode 'query=perf_page_faults_total{job=\"tacho\"}' |
	jq -e '.data.result | length == 1'"

# Away for a while, which the agent notices and says.
end "$prom_pid"
work_load 2 30000
tried() { curl -fsS "$agent_url/metrics" | grep -q '^tacho_exporter_retries_total{exporter="remote_write",.*} [1-9]'; }
wait_for 20 tried
curl -fsS "$agent_url/metrics" | grep '^tacho_exporter_up{exporter="remote_write"' | grep -q ' 0$' ||
	fail "the agent takes it for connected"
start_prometheus
work_load 3 10000
now=$(curl -fsS "$agent_url/metrics" | sed -n 's/^perf_page_faults_total{.*} //p')
wait_for 30 has 'perf_page_faults_total{job="tacho"}' "$now"
wait_for 30 has 'perf_page_faults_total{job="scraped"}' "$now"
stop_agent
ask 'perf_page_faults_total{job="tacho",source="load",rack="r 1"}[1h]' >remote.json
"$SUPPORT/compare-points" prometheus remote.json points.jsonl load perf_page_faults 10 >last
ask 'perf_task_clock_seconds_total{job="tacho"}[1h]' >remote.json
"$SUPPORT/compare-points" prometheus remote.json points.jsonl load perf_task_clock 10 >last_clock
ask 'perf_page_faults_total{job="tacho"}' | jq -e '.data.result[0].metric.instance != ""' >/dev/null
end_load
for metric in perf_page_faults_total:page-faults:1 perf_task_clock_seconds_total:task-clock:1000; do
	name=${metric%%:*} rest=${metric#*:}
	got=$(ask "last_over_time($name{job=\"scraped\",source=\"load\"}[1h])" |
		jq -r "(.data.result[0].value[1] | tonumber) * ${rest#*:}")
	within 1 "$got" "$(csv_value "${rest%:*}" stat.csv)"
done
within 1 "$(cat last)" "$(csv_value page-faults stat.csv)"
within 1 "$(cat last_clock)" "$(awk -F, '$3 == "task-clock" { print $1 / 1000 }' stat.csv)"
# The process has ended before the agent did or not: what is there is told once.
grep -c "export 'remote_write': http" agent.err | grep -qx 1 || { cat agent.err >&2; fail "the failure was not reported exactly once"; }
end "$prom_pid"
