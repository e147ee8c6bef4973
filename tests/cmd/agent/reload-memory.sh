# A hundred reloads, with exporters, pages and requests in between, leave no old configuration behind.
# run: plain alone slow
. "$SUPPORT/lib.sh"
. "$SUPPORT/agent.sh"
need curl python3
need_counting
# A sanitizer keeps what is freed for a while.
first=20 last=120
! grep -q __asan_init "$BUILD/tacho-agent" || SANITIZED=1 first=5 last=25
port=$(free_port)
agent_head head.toml
python3 -c 'print("X-Big = \"%s\"" % ("x" * 300000))' >big
write() {	# N: each is another, and each is large
	{
		cat head.toml
		cat <<-END
		[[source]]
		name = "self"
		events = ["task-clock", "page-faults"]
		pids = [$$]
		interval = "$((100 + $1 % 7))ms"
		flush = "1s"
		[[source]]
		name = "other$(($1 % 3))"
		events = ["task-clock"]
		pids = [$$]
		[[export]]
		name = "stays"
		type = "jsonl"
		path = "$PWD/stays.jsonl"
		flush = "200ms"
		[[export]]
		name = "changes"
		type = "csv"
		path = "$PWD/changes-$(($1 % 2)).csv"
		flush = "200ms"
		[[export]]
		name = "away"
		type = "influxdb"
		url = "http://127.0.0.1:$port"
		database = "d"
		headers = { $(cat big) }
		flush = "$((200 + $1 % 5))ms"
		[[trigger]]
		name = "never"
		when = "rate(page-faults) > 1e15"
		END
	} >tacho.toml
}
resident() { sed -n 's/VmRSS:[[:space:]]*\([0-9]*\).*/\1/p' "/proc/$agent_pid/status"; }
again() {	# FROM TO
	i=$1
	while [ "$i" -le "$2" ]; do
		write "$i"
		tacho agent -c tacho.toml ctl reload >reload.out 2>&1 || { cat reload.out >&2; fail "reload $i"; }
		curl -fsS -m 5 "$agent_url/metrics" >page.out
		curl -fsS -m 5 "$agent_url/api/v1/status" >page.out
		i=$((i + 1))
	done
}
write 0
start_agent tacho.toml
again 1 "$first"
before=$(resident)
again $((first + 1)) "$last"
after=$(resident)
echo "$before kB before, $after kB after" >figures
# A hundred configurations of 300 kB are 30 MB.
[ -n "${SANITIZED:-}" ] || [ $((after - before)) -lt 12000 ] || fail "resident memory grew: $(cat figures)"
stop_agent
python3 - <<'END'
import json
times = [json.loads(line) for line in open("stays.jsonl")]
last = {}
for p in times:
    if p["source"] != "self" or "count" not in p:
        continue
    key = (p["event"], json.dumps(p.get("labels"), sort_keys=True))
    assert p["count"] >= last.get(key, 0), f"{key} fell from {last[key]} to {p['count']}"
    last[key] = p["count"]
assert last, "nothing came of it"
END
