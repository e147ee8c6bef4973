# TLS: the agent verifies the receiver's certificate, and the receiver the agent's.
. "$SUPPORT/lib.sh"
. "$SUPPORT/agent.sh"
need curl python3 openssl jq
need_counting
agent_head base.toml
port=$(free_port)
for who in server client other; do
	openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj "/CN=$who" -addext "subjectAltName=IP:127.0.0.1" \
		-keyout $who.key -out $who.crt 2>openssl.log || { cat openssl.log >&2; fail openssl; }
done
cat >>base.toml <<END
[[source]]
name = "self"
events = ["task-clock"]
pids = [$$]
interval = "200ms"
[[export]]
type = "influxdb"
url = "https://127.0.0.1:$port"
bucket = "b"
org = "o o"
token = "t"
flush = "200ms"
END
start_receiver "$port" got --tls server.crt server.key client.crt

with() {	# KEYS: an agent with these more
	cp base.toml tacho.toml
	printf '%s\n' "$@" >>tacho.toml
	start_agent tacho.toml
}

with "ca = \"$PWD/server.crt\"" "cert = \"$PWD/client.crt\"" "key = \"$PWD/client.key\""
wait_for 20 test -s got/2.json
stop_agent
jq -e '.path == "/api/v2/write?precision=ns&bucket=b&org=o%20o" and .headers.authorization == "Token t"' got/2.json \
	>/dev/null || { cat got/2.json >&2; fail "request"; }

for keys in "ca = \"$PWD/other.crt\"" "# the system's certificates"; do
	rm -rf got/*.json got/*.body
	with "$keys" "cert = \"$PWD/client.crt\"" "key = \"$PWD/client.key\""
	wait_for 20 metric_is 'tacho_exporter_retries_total{exporter="influxdb"' '[1-9]'
	stop_agent
	grep -qi certificate agent.err || { cat agent.err >&2; fail "no word about the certificate"; }
	[ -z "$(ls got)" ] || fail "it was sent to somebody else"
done
with "ca = \"$PWD/server.crt\""		# the receiver wants ours
wait_for 20 metric_is 'tacho_exporter_retries_total{exporter="influxdb"' '[1-9]'
stop_agent
[ -z "$(ls got)" ] || fail "it was taken without our certificate"
end "$receiver_pid"
