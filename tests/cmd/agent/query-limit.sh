# A query's answer is limited, and the error beyond the limit says how to reduce it.
. "$SUPPORT/lib.sh"
. "$SUPPORT/agent.sh"
need curl jq
need_counting
agent_head tacho.toml
sed -i "s,^store = .*,store = \"$PWD/db\"," tacho.toml
cat >>tacho.toml <<END
[[source]]
name = "me"
events = ["page-faults", "context-switches"]
pids = [$$]
interval = "100ms"
END
start_agent tacho.toml
query() {	# LIMIT
	curl -sS -m 10 -o body -w '%{http_code}' "$agent_url/api/v1/query?label=source=me&func=value&step=0s&limit=$1"
}
has_points() {	# N
	[ "$(query '')" = 200 ] && [ "$(jq '[.series[].points | length] | add // 0' body)" -ge "$1" ]
}
wait_for 20 has_points 12
[ "$(query 10)" = 400 ] || { cat body >&2; fail "10 points are not the bound"; }
grep -q 'the answer would exceed 10 points: use a larger step, a shorter range or fewer series' body ||
	{ cat body >&2; fail "does not say what to do"; }
[ "$(query 99999999999)" = 200 ] || { cat body >&2; fail "a large bound is refused"; }
[ "$(query x)" = 400 ] || { cat body >&2; fail "a bound that is not a number is accepted"; }
stop_agent
