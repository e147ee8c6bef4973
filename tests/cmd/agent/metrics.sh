# Metrics listed in a source are gauges beside its counters: from a list, from other metrics, per CPU. Their
# own events have no series; a metric that cannot be counted is logged and does not affect others.
. "$SUPPORT/lib.sh"
need python3
tacho stat -a -x, -e context-switches sleep 0.01 2>err || skip "may not count: $(cat err)"
cat >list.json <<'J'
[ { "MetricName": "Switch_Rate", "MetricExpr": "context\\-switches / (duration_time / 1e9)", "MetricGroup": "Own",
    "ScaleUnit": "1per_sec", "BriefDescription": "Switches per second" },
  { "MetricName": "busy", "MetricExpr": "cpu\\-clock / duration_time", "MetricGroup": "Own", "ScaleUnit": "100%" },
  { "MetricName": "not_idle", "MetricExpr": "busy + 0 * Switch_Rate", "MetricGroup": "Own", "ScaleUnit": "100%" },
  { "MetricName": "missing", "MetricExpr": "NO.SUCH / 2", "MetricGroup": "Own" } ]
J
cat >check.toml <<'T'
[[source]]
name = "s"
events = ["page-faults"]
metrics = ["busy", "missing", "nonsense"]
event_lists = ["list.json"]
T
tacho agent --check --config check.toml >check.out 2>&1 && fail "a name that nobody knows passes"
grep -q "cpu-clock" check.out || fail "$(cat check.out)"
grep -q "metric 'missing' needs 'NO.SUCH'" check.out || fail "$(cat check.out)"
grep -q "no metric or metric group is called 'nonsense'" check.out || fail "$(cat check.out)"
PYTHONPATH=$SUPPORT python3 - <<'END'
import os
from agent_test import *

agent = Agent('interval = "100ms"\nper = "cpu"\nevents = ["page-faults"]\nmetrics = ["Own", "nonsense"]\n'
              f'event_lists = ["{os.getcwd()}/list.json"]', store="").start()
cpus = os.sysconf("SC_NPROCESSORS_ONLN")

def values(name):
    return [float(v) for v in re.findall(rf"^{name}{{[^}}]*}} (\S+)$", agent.get("/metrics"), re.M)]

wait_until(lambda: len(values("perf_busy_ratio")) == cpus, "no gauge per CPU")
busy = values("perf_busy_ratio")
check(all(v > 1 for v in busy), f"cpu-clock runs all the time: {busy}")
check(len(values("perf_switch_rate_ratio")) == cpus, "no rate")
check(all(v >= 0 for v in values("perf_switch_rate_ratio")), "a rate below 0")
check(len(values("perf_not_idle_ratio")) == cpus, "no metric of metrics")
text = agent.get("/metrics")
check("perf_page_faults_total" in text, "the source's own event is gone")
check("perf_context_switches" not in text and "perf_cpu_clock" not in text, "events of metrics have series")
said = agent.text()
check("metric 'missing' needs 'NO.SUCH': no event is called 'NO.SUCH'" in said, said)
check("no metric or metric group is called 'nonsense'" in said, said)
agent.stop()
print("metrics")
END
