# Both formats of /metrics are valid for promtool and the Python client's parsers.
. "$SUPPORT/lib.sh"
. "$SUPPORT/agent.sh"
need promtool curl python3 jq
python=/usr/bin/python3		# Debian's, which Debian's modules are for
$python -c 'import prometheus_client.openmetrics.parser' 2>/dev/null || skip "needs python3-prometheus-client"
need_counting
start_load
agent_head tacho.toml
cat load.toml >>tacho.toml
start_agent tacho.toml
work_load 1 1000
curl -fsS "$agent_url/metrics" >text
curl -fsS -H 'Accept: application/openmetrics-text; version=1.0.0' "$agent_url/metrics" >openmetrics
promtool check metrics <text >lint 2>&1 || { cat lint >&2; fail "promtool has complaints"; }
cat >check.py <<'END'
from prometheus_client.openmetrics.parser import text_string_to_metric_families as om
from prometheus_client.parser import text_string_to_metric_families as text

def values(families):
    return {(s.name, s.labels.get("source")): s for f in families for s in f.samples}

a = values(om(open("openmetrics").read()))
b = values(text(open("text").read()))
for found in (a, b):
    faults = found["perf_page_faults_total", "load"]
    assert faults.value >= 1000 and faults.labels["rack"] == "r 1", faults
assert a["perf_page_faults_created", "load"].value > 1.6e9
assert a["perf_task_clock_seconds_total", "load"].value >= 0.3
types = {f.name: (f.type, f.unit) for f in om(open("openmetrics").read())}
assert types["perf_task_clock_seconds"] == ("counter", "seconds"), types["perf_task_clock_seconds"]
assert types["tacho_resident_bytes"][0] == "gauge"
END
$python check.py
stop_agent
end_load
