# Reading over TCP needs a token: without it another user gets neither the process list nor a flame graph nor the series of
# processes; the link becomes a cookie; guesses are limited and starve no one; slow clients do not take the places of others.
# run: alone
. "$SUPPORT/lib.sh"
. "$SUPPORT/agent.sh"
need curl python3 jq openssl
need_counting
sleep 300 &
victim=$!
trap 'kill $victim 2>/dev/null' EXIT
agent_head tacho.toml
cat >>tacho.toml <<END
[[source]]
name = "victim"
events = ["page-faults"]
pids = [$victim]
END
start_agent tacho.toml
status() {	# CURL_ARGS...
	command curl -sS -m 10 -o body -D head -w '%{http_code}\n' "$@"
}
expect() {	# STATUS CURL_ARGS...
	expect_status=$1
	shift
	got=$(status "$@")
	[ "$got" = "$expect_status" ] || { cat body >&2; fail "$got, expected $expect_status: $*"; }
}

# The token is the agent's own and private; the link has it.
token=$(cat state/token)
[ ${#token} = 64 ] || fail "token of ${#token} characters"
[ "$(stat -c %a state/token)" = 600 ] || fail "others may read the token: $(stat -c %a state/token)"
grep -q "link.*?token=$token" agent.err || fail "no link: $(cat agent.err)"
[ "$(tacho agent -c tacho.toml ctl link)" = "$agent_url/?token=$token" ] || fail "ctl link: $(tacho agent -c tacho.toml ctl link)"

# Without it: the page's code, health and metrics, nothing about processes.
for path in status series query events processes exporters triggers doctor profiles flame heatmap live config; do
	expect 401 "$agent_url/api/v1/$path"
	grep -q '"error"' body || fail "no reason: $(cat body)"
	! grep -q "$victim\|sleep" body || fail "$path: $(cat body)"
	grep -qi '^www-authenticate: bearer' head || fail "$(cat head)"
done
expect 200 "$agent_url/"
expect 200 "$agent_url/healthz"
expect 200 "$agent_url/metrics"
grep -q '^tacho_cpu_busy_seconds_total{' body || fail "no utilisation"
! grep -q "pid=" body || fail "series of processes are open: $(grep pid= body | head -1)"
process_is_shown() {	# after the source's first tick
	expect 200 -H "Authorization: Bearer $token" "$agent_url/metrics"
	grep -q "pid=\"$victim\"" body
}
wait_for 20 process_is_shown

# With it, in every form; for reading only.
for path in status series processes exporters triggers profiles; do
	expect 200 -H "Authorization: Bearer $token" "$agent_url/api/v1/$path"
done
expect 200 -u "prometheus:$token" "$agent_url/api/v1/status"
expect 401 -H "Authorization: Bearer $token" -X POST "$agent_url/api/v1/ctl/read-now"
expect 303 "$agent_url/?token=$token"
grep -qi '^location: \./' head || fail "the link does not lead to the page: $(cat head)"
cookie=$(sed -n 's/^[Ss]et-[Cc]ookie: \([^;]*\);.*/\1/p' head | tr -d '\r')
grep -qi "^set-cookie: tacho-$agent_port=.*HttpOnly; SameSite=Strict" head || fail "$(cat head)"
expect 200 -b "$cookie" "$agent_url/api/v1/processes"
expect 401 -b "$cookie" -X POST "$agent_url/api/v1/ctl/read-now"
expect 401 -b "tacho-$agent_port=$(echo $token | tr 0-9 1-90)" "$agent_url/api/v1/processes"
expect 204 --data-binary "$token" "$agent_url/api/v1/login"
expect 401 --data-binary "nonsense" "$agent_url/api/v1/login"
expect 400 -X POST "$agent_url/api/v1/login"
expect 204 -X POST "$agent_url/api/v1/logout"
grep -qi 'max-age=0' head || fail "the cookie stays"

# A request without a Host header.
python3 - "$agent_port" <<'END'
import socket, sys
for version in b"1.0", b"1.1":
    with socket.create_connection(("127.0.0.1", int(sys.argv[1])), timeout=20) as s:
        s.sendall(b"GET /healthz HTTP/" + version + b"\r\nConnection: close\r\n\r\n")
        assert s.recv(100).startswith(b"HTTP/1.1 400") or version == b"1.1", version
END

# 10,000 guesses from ten clients at once: none succeeds, most are refused unread, and others are served meanwhile.
cat >guess.py <<'END'
import http.client, random, sys, threading, time, urllib.request
port, token = int(sys.argv[1]), sys.argv[2]
answers, lock = {}, threading.Lock()
def guess(seed):
    r = random.Random(seed)
    for _ in range(1000):
        c = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        c.request("GET", "/api/v1/processes", headers={"Authorization": "Bearer %064x" % r.getrandbits(256)})
        a = c.getresponse()
        a.read()
        c.close()
        with lock:
            answers[a.status] = answers.get(a.status, 0) + 1
threads = [threading.Thread(target=guess, args=(i,)) for i in range(10)]
for t in threads:
    t.start()
worst, n = 0, 0
while any(t.is_alive() for t in threads):
    for path, headers in ("/metrics", {}), ("/api/v1/status", {"Authorization": "Bearer " + token}):
        start = time.monotonic()
        urllib.request.urlopen(urllib.request.Request(f"http://127.0.0.1:{port}{path}", headers=headers), timeout=10).read()
        worst, n = max(worst, time.monotonic() - start), n + 1
    time.sleep(0.2)
print(answers, "others: %d requests, the slowest took %.2f s" % (n, worst))
assert set(answers) == {401, 429} and answers[429] > 9000 and sum(answers.values()) == 10000, answers
assert n > 3 and worst < 5, (n, worst)
END
python3 guess.py "$agent_port" "$token"
grep -c "wrong tokens" agent.err >n
[ "$(cat n)" = 1 ] || fail "guesses were logged $(cat n) times"

# 300 clients send a line of a header every four seconds: /metrics is answered all the time, and they are closed.
cat >slow.py <<'END'
import socket, sys, time, urllib.request
port = int(sys.argv[1])
clients, closed = [], 0
for _ in range(300):
    s = socket.create_connection(("127.0.0.1", port), timeout=10)
    s.setblocking(False)
    s.send(b"GET /metrics HTTP/1.1\r\n")
    clients.append(s)
worst, end, last = 0, time.monotonic() + 16, 0
while time.monotonic() < end:
    if time.monotonic() - last >= 4:
        last = time.monotonic()
        for s in clients:
            try:
                s.send(b"X-Slow: yes\r\n")
            except OSError:
                pass
    start = time.monotonic()
    urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=10).read()
    worst = max(worst, time.monotonic() - start)
    time.sleep(0.1)
for s in clients:
    try:
        while s.recv(1000):
            pass
        closed += 1
    except BlockingIOError:
        pass
    except OSError:
        closed += 1
print(f"the slowest /metrics took {worst:.2f} s, {closed} of 300 slow clients were closed")
assert worst < 3 and closed == 300, (worst, closed)
END
python3 slow.py "$agent_port"

# 600 clients send a header and never the body that it announces.
cat >body.py <<'END'
import resource, socket, sys, time, urllib.request
resource.setrlimit(resource.RLIMIT_NOFILE, (2000, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
port, clients, worst = int(sys.argv[1]), [], 0
for _ in range(600):
    s = socket.create_connection(("127.0.0.1", port), timeout=10)
    clients.append(s)
    try:
        s.send(b"POST /api/v1/login HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\n")
    except OSError:
        pass		# closed already
    time.sleep(0.003)
for _ in range(5):
    start = time.monotonic()
    urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=20).read()
    worst = max(worst, time.monotonic() - start)
print(f"with 600 clients that send no body the slowest /metrics took {worst:.2f} s")
assert worst < 3, worst
END
python3 body.py "$agent_port"
curl -fsS "$agent_url/metrics" >metrics
grep -q '^tacho_http_closed_total{.*} [1-9]' metrics || fail "closed connections are not counted"
stop_agent

# The token stays after a restart; one that others may read is replaced.
start_agent tacho.toml
[ "$(cat state/token)" = "$token" ] || fail "another token after a restart"
stop_agent
chmod 644 state/token
start_agent tacho.toml
[ "$(cat state/token)" != "$token" ] || fail "a token that others could read is still used"
[ "$(stat -c %a state/token)" = 600 ] || fail "the new token is not private"
stop_agent

# A configured token, until a reload removes it: then the agent's own is made, and nothing is open meanwhile.
rm state/token
sed -i 's|^socket = .*|&\nread_token = "configured-token-1"|' tacho.toml
start_agent tacho.toml
[ ! -e state/token ] || fail "the agent made a token that is not used"
expect 200 -H "Authorization: Bearer configured-token-1" "$agent_url/api/v1/status"
sed -i '/^read_token/d' tacho.toml
tacho agent -c tacho.toml ctl reload >reload.out 2>&1 || fail "$(cat reload.out)"
expect 401 "$agent_url/api/v1/status"
expect 401 -H "Authorization: Bearer " "$agent_url/api/v1/status"
expect 401 -H "Authorization: Bearer configured-token-1" "$agent_url/api/v1/status"
expect 200 -H "Authorization: Bearer $(cat state/token)" "$agent_url/api/v1/status"
[ "$(tacho agent -c tacho.toml ctl link)" = "$agent_url/?token=$(cat state/token)" ] || fail "the link has no token"
stop_agent

# A scrape token closes /metrics and opens nothing else; so does metrics = "token".
sed -i 's|^socket = .*|&\nscrape_token = "scrape-scrape-scrape"|' tacho.toml
start_agent_closed() {
	tacho agent -c tacho.toml >agent.out 2>agent.err &
	agent_pid=$!
	wait_for 20 grep -q 'page at' agent.err
}
start_agent_closed
expect 401 "$agent_url/metrics"
expect 401 "$agent_url/healthz"
scraped() {
	expect 200 -H "Authorization: Bearer scrape-scrape-scrape" "$agent_url/metrics"
	grep -q "pid=\"$victim\"" body
}
wait_for 10 scraped
expect 401 -H "Authorization: Bearer scrape-scrape-scrape" "$agent_url/api/v1/processes"
stop_agent

# Other than loopback addresses need TLS, or a key that permits it.
sed -i 's|^scrape_token.*||; s|127\.0\.0\.1:|0.0.0.0:|' tacho.toml
tacho agent -c tacho.toml >agent.out 2>agent.err && fail "it listens on all addresses without TLS"
grep -q "without TLS" agent.err && grep -q "insecure = true" agent.err || fail "$(cat agent.err)"
sed -i 's|^socket = .*|&\ninsecure = true|' tacho.toml
start_agent tacho.toml
stop_agent
for who in ca other; do
	openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj "/CN=$who" -addext "subjectAltName=IP:127.0.0.1" \
		-keyout $who.key -out $who.crt 2>openssl.log || { cat openssl.log >&2; fail openssl; }
done
sed -i "s|^insecure = true|tls_cert = \"$PWD/ca.crt\"\ntls_key = \"$PWD/ca.key\"\ntls_client_ca = \"$PWD/ca.crt\"|" tacho.toml
agent_url=https://127.0.0.1:$agent_port
start_agent_closed
expect 401 --cacert ca.crt "$agent_url/metrics"
expect 200 --cacert ca.crt --cert ca.crt --key ca.key "$agent_url/metrics"
expect 200 --cacert ca.crt --cert ca.crt --key ca.key "$agent_url/api/v1/processes"
expect 401 --cacert ca.crt --cert ca.crt --key ca.key -X POST "$agent_url/api/v1/ctl/read-now"
expect 401 --cacert ca.crt --cert other.crt --key other.key "$agent_url/api/v1/processes"
expect 303 --cacert ca.crt "$agent_url/?token=$(cat state/token)"
grep -qi '^set-cookie:.*; Secure' head || fail "the cookie may be sent without TLS"
stop_agent
