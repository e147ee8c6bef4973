# OpenTelemetry profiles: every window is a request that decodes without unknown fields, with the samples of a known program.
# run: slow
. "$SUPPORT/lib.sh"
. "$SUPPORT/agent.sh"
need curl python3 jq
port=$(free_port)
agent_head head.toml
sed '/^\[profile\]/,$d' head.toml >tacho.toml
cat >>tacho.toml <<END
default_sources = false
[profile]
event = "cpu-clock"
frequency = 97
window = "1s"
[[export]]
type = "otlp_profiles"
url = "http://127.0.0.1:$port"
END
mkdir state
(while :; do :; done) &	# something to sample, in every window
busy=$!
trap 'kill $busy 2>/dev/null || true' EXIT
start_receiver "$port" got
start_agent tacho.toml
curl -fsS "$agent_url/api/v1/status" | jq -e .profiler.running >/dev/null || skip "this machine cannot be sampled"
wait_for 60 test -s got/3.body
stop_agent
jq -e '.path == "/v1development/profiles" and .headers["content-type"] == "application/x-protobuf"' got/2.json >/dev/null ||
	fail "$(cat got/2.json)"
python3 "$SUPPORT/check-otlp" got/2.body >found || { cat found; fail "the message is wrong"; }
grep -q '^total cpu/nanoseconds: [1-9]' found || { head -n 20 found; fail "no samples"; }
