# The alert rules are valid and fire as their tests say; each query of the dashboard is one that Prometheus answers, and the
# metrics that rules and dashboard use are those of the agent.
# run: slow
. "$SUPPORT/lib.sh"
. "$SUPPORT/agent.sh"
need promtool prometheus curl jq python3
need_counting
(cd "$SOURCE/share/prometheus" && promtool check rules tacho-alerts.yml && promtool test rules tacho-alerts-test.yml) >out 2>&1 ||
	fail "$(cat out)"
agent_head tacho.toml
cat >>tacho.toml <<END
[[source]]
name = "software"
events = ["context-switches", "page-faults"]
[[export]]
type = "jsonl"
path = "$PWD/x.jsonl"
END
start_agent tacho.toml
port=$(free_port)
cat >prometheus.yml <<END
global: { scrape_interval: 1s }
rule_files: ["$SOURCE/share/prometheus/tacho-alerts.yml"]
scrape_configs:
  - job_name: tacho
    authorization: { credentials_file: "$PWD/state/token" }
    static_configs: [{ targets: ["127.0.0.1:$agent_port"] }]
END
prometheus --config.file=prometheus.yml --storage.tsdb.path=data --web.listen-address="127.0.0.1:$port" >prom.out 2>&1 &
prom_pid=$!
ask() {	# EXPRESSION: into answer.json
	command curl -fsS -m 10 -G "http://127.0.0.1:$port/api/v1/query" --data-urlencode "query=$1" >answer.json
}
has_process() {
	ask 'rate(tacho_process_cpu_seconds_total{pid!=""}[10s])' && jq -e '.data.result | length > 0' answer.json
}
wait_for 60 has_process
jq -r '.panels[].targets[].expr' "$SOURCE/share/grafana/tacho-hosts.json" >queries
while read -r query; do
	query=$(printf '%s' "$query" | sed 's/\$__rate_interval/10s/g; s/\$instance/.*/g')
	ask "$query" || fail "Prometheus refuses: $query"
	case $query in
	*perf_instructions*|*perf_branch*) ;;		# needs a PMU
	*) jq -e '.data.result | length > 0' answer.json >/dev/null || fail "no answer: $query" ;;
	esac
done <queries
[ "$(wc -l <queries)" -ge 8 ] || fail "few queries"
curl -fsS "$agent_url/metrics" >metrics
grep -o 'tacho_[a-z_]*' "$SOURCE/share/prometheus/tacho-alerts.yml" | grep -v '_busy$' | sort -u | while read -r name; do
	grep -q "^$name" metrics || fail "the agent has no $name"
done
command curl -fsS "http://127.0.0.1:$port/api/v1/rules" | jq -e '[.data.groups[].rules[] | select(.health == "err")] | length == 0' >/dev/null ||
	fail "a rule fails"
end "$prom_pid"
stop_agent
