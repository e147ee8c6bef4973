# CSV, JSON lines and node_exporter's textfile: the first two have the same content, files are rotated by size and
# their number is limited without losing lines; a partial last line is cut off; "-" is stdout.
. "$SUPPORT/lib.sh"
. "$SUPPORT/agent.sh"
need curl python3 jq
need_counting
agent_head tacho.toml
cat >>tacho.toml <<END
[[source]]
name = "self"
events = ["task-clock", { event = "context-switches", name = "switches, \"all\"" }, "no-such-event"]
pids = [$$]
interval = "50ms"
[[export]]
type = "csv"
path = "$PWD/all.csv"
flush = "100ms"
sync = "write"
[[export]]
type = "jsonl"
path = "$PWD/all.jsonl"
flush = "100ms"
[[export]]
name = "small"
type = "csv"
path = "$PWD/small.csv"
max_size = 4096
keep = 1000
flush = "100ms"
max_points = 10
[[export]]
name = "few"
type = "jsonl"
path = "$PWD/few.jsonl"
max_size = 4096
keep = 2
flush = "100ms"
max_points = 5
[[export]]
type = "textfile"
path = "$PWD/tacho.prom"
flush = "100ms"
processes = true
[[export]]
name = "for-all"
type = "textfile"
path = "$PWD/all.prom"
flush = "100ms"
[[export]]
name = "out"
type = "csv"
path = "-"
flush = "100ms"
END
printf '{"time": "2020-01-01T00:00:00.000000000Z", "source": "old"}\n{"time": "20' >all.jsonl
start_agent tacho.toml
has_enough() {
	[ "$(wc -l <all.csv)" -gt 130 ] && [ -e small.csv.3 ] && [ -e few.jsonl.2 ] && [ -e tacho.prom ] && [ -e all.prom ]
}
wait_for 60 has_enough
if command -v promtool >/dev/null; then
	promtool check metrics <tacho.prom >lint 2>&1 || { cat lint >&2; fail "promtool has complaints"; }
fi
stop_agent
grep -q '^perf_task_clock_seconds_total{comm="sh",[^}]*pid="[0-9]*",[^}]*rack="r 1",[^}]*source="self"} [0-9.e-]*$' tacho.prom ||
	{ cat tacho.prom >&2; fail "textfile"; }
grep -q '^tacho_wakeups_total' all.prom || fail "all.prom has no series"
grep -q 'pid="' all.prom && fail "everybody can read what processes run: $(grep -m 1 'pid="' all.prom)"
[ ! -e tacho.prom.new ] || fail "a half-written file is left"
cat >check.py <<'END'
import csv, glob, json, os

def rows(path):
    with open(path, newline="") as f:
        return list(csv.DictReader(f))

a = rows("all.csv")
b = [json.loads(line) for line in open("all.jsonl")]
assert b.pop(0)["source"] == "old"
assert len(a) == len(b) > 100, (len(a), len(b))
for x, y in zip(a, b):
    assert (x["time"], x["source"], x["event"], x["state"]) == (y["time"], y["source"], y["event"], y["state"])
    assert (x["value"] == "") == (y["value"] is None)
    assert x["value"] == "" or float(x["value"]) == y["value"], (x, y)
    assert "rack=r 1" in x["labels"].split(";") and y["labels"]["rack"] == "r 1"
assert any(x["event"] == 'switches, "all"' for x in a)
times = [x["time"] for x in a if x["event"] == "task-clock"]
assert times == sorted(set(times))

small = sorted(glob.glob("small.csv*"), key=lambda p: -int(p[10:] or 0))
assert len(small) > 3
assert all(os.path.getsize(p) <= 4096 for p in small)
assert [r for p in small for r in rows(p)] == a
assert sorted(glob.glob("few.jsonl*")) == ["few.jsonl", "few.jsonl.1", "few.jsonl.2"]
few = [json.loads(l) for p in ("few.jsonl.2", "few.jsonl.1", "few.jsonl") for l in open(p)]
assert few == b[-len(few):]
assert rows("agent.out") == a
END
python3 check.py
