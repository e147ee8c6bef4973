# Views as series: histograms of the waits for a CPU and of requests to disks that Prometheus can read, and system calls by kind,
# which agree with what a program did.
. "$SUPPORT/lib.sh"
. "$SUPPORT/agent.sh"
need_root
need_tracefs
need curl python3
agent_head tacho.toml
cat >>tacho.toml <<END
[usage]
views = ["runqlat", "biolat", "syscount"]
END
start_agent tacho.toml
metric() {	# NAME{LABELS}: its value
	curl -fsS -m 10 "$agent_url/metrics" >page
	awk -v name="$1" 'index($0, name " ") == 1 { print $NF; found = 1 } END { exit !found }' page
}
calls() {	# of getppid so far
	metric 'tacho_syscalls_total{call="getppid",rack="r 1",source="usage"}' || echo 0
}
has_called() {	# N
	[ "$(calls)" -ge "$1" ]
}
wait_for 20 metric 'tacho_runqlat_seconds_count{rack="r 1",source="usage"}'
before=$(calls)
"$TEST_BIN/calls" "$(printf 'p%.0s' $(seq 500))"
wait_for 20 has_called $((before + 500))

# The buckets are cumulative, the last one is the count, and the sum is that of waits that long.
wait_for 20 metric 'tacho_runqlat_seconds_bucket{le="+Inf",rack="r 1",source="usage"}'
python3 - <<'END'
import re
found = {}
for line in open("page"):
    match = re.match(r'(tacho_runqlat_seconds_\w+)\{(?:le="([^"]*)",)?rack="r 1",source="usage"\} (\S+)$', line)
    if match:
        found[match[1], match[2]] = float(match[3])
buckets = [(float(le), n) for (name, le), n in found.items() if name.endswith("_bucket")]
buckets.sort()
assert len(buckets) == 25, buckets
assert all(a[1] <= b[1] for a, b in zip(buckets, buckets[1:])), buckets
assert buckets[-1] == (float("inf"), found["tacho_runqlat_seconds_count", None]), buckets
least = sum(n - before for (_, before), (limit, n) in zip([(0, 0)] + buckets, buckets)
            for limit in [limit / 2 if limit < 1e9 and limit > 2e-6 else 0] for n, before in [((n - before) * limit, 0)])
assert least <= found["tacho_runqlat_seconds_sum", None] * 1.001, (least, found)
END
grep -q '^# TYPE tacho_runqlat_seconds_bucket counter$' page || fail "$(grep runqlat page | head -n 5)"
curl -fsS -m 10 -H 'Accept: application/openmetrics-text' "$agent_url/metrics" >om
grep -q '^# TYPE tacho_runqlat_seconds_bucket unknown$' om || fail "$(grep runqlat om | head -n 5)"
stop_agent

sed -i 's/"biolat"/"exec"/' tacho.toml
tacho agent --check -c tacho.toml >out 2>&1 && fail "exec can be exported"
grep -q "'exec' cannot be exported" out || fail "$(cat out)"
