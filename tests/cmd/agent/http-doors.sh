# Access control: the Host header must name this machine, an action needs the token or the socket's
# owner, and by default only the loopback address is used.
. "$SUPPORT/lib.sh"
. "$SUPPORT/agent.sh"
need curl python3 jq
need_counting
agent_head tacho.toml
sed -i 's|^socket = .*|&\ntoken = "s3cret word"\nread_token = "r3ad-r3ad-r3ad-r3ad"\nhosts = ["web1.example.com"]|' tacho.toml
cat >>tacho.toml <<END
[[source]]
name = "me"
events = ["page-faults"]
pids = [$$]
END
start_agent tacho.toml
status() {	# CURL_ARGS...
	command curl -sS -m 10 -o body -w '%{http_code}\n' "$@"
}
expect() {	# STATUS CURL_ARGS...
	expect_status=$1
	shift
	got=$(status "$@")
	[ "$got" = "$expect_status" ] || { cat body >&2; fail "$got, expected $expect_status: $*"; }
}

# Names of this machine, and names used in DNS rebinding.
for host in 127.0.0.1 localhost LOCALHOST "localhost:$agent_port" '[::1]' "$(hostname)" 192.0.2.7 \
	web1.example.com "WEB1.example.com:$agent_port"; do
	expect 200 -H "Host: $host" "$agent_url/healthz"
done
for host in evil.example "evil.example:$agent_port" localhost.evil.example 127.0.0.1.evil.example '[::1].evil' \
	"$(hostname).evil.example" 'a:b:c' web1.example.com.evil web1 unix; do
	expect 421 -H "Host: $host" "$agent_url/healthz"
	expect 421 -H "Host: $host" -H 'Authorization: Bearer s3cret word' -X POST "$agent_url/api/v1/ctl/read-now"
	expect 421 -H "Host: $host" "$agent_url/metrics"
done

# Requests that a proxy may parse differently, and requests smuggled in them.
python3 - "$agent_port" <<'END'
import socket, sys
def ask(*lines, body=b""):
    with socket.create_connection(("127.0.0.1", int(sys.argv[1])), timeout=20) as s:
        s.sendall("\r\n".join(lines + ("", "")).encode() + body)
        got = b""
        while chunk := s.recv(65536):
            got += chunk
    assert got.startswith(b"HTTP/1.1 400 ") and got.count(b"HTTP/1.1") == 1, (lines, got)
smuggled = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
ask("GET /healthz HTTP/1.1", "Host: localhost", "Host: evil.example", body=smuggled)
ask("GET /healthz HTTP/1.1", "host: evil.example", "HOST: localhost", body=smuggled)
ask("POST /api/v1/ctl/pause HTTP/1.1", "Host: localhost", "Content-Length: 5", "Transfer-Encoding: chunked",
    body=b"0\r\n\r\n" + smuggled)
ask("POST /api/v1/ctl/pause HTTP/1.1", "Host: localhost", "Content-Length: 0", "Content-Length: 44", body=smuggled)
END

# Actions.
post="-X POST $agent_url/api/v1/ctl/read-now"
expect 401 $post
for token in 'Bearer' 'Bearer ' 'Bearer s3cret' 'Bearer s3cret word ' 'Bearer s3cret wordx' 'bearer s3cret word' 'Basic s3cret word' \
	's3cret word' 'Bearer S3CRET WORD'; do
	case $token in
	*' ') continue ;;	# blanks at the end are the header's, not the token's
	esac
	expect 401 -H "Authorization: $token" $post
done
expect 200 -H 'Authorization: Bearer s3cret word' $post
expect 401 "$agent_url/api/v1/config"
expect 200 -H 'Authorization: Bearer s3cret word' "$agent_url/api/v1/config"
! grep -q s3cret body || fail "the token is shown"
expect 405 -H 'Authorization: Bearer s3cret word' "$agent_url/api/v1/ctl/read-now"
expect 200 --unix-socket ctl -X POST http://localhost/api/v1/ctl/read-now
[ "$(stat -c %a ctl)" = 600 ] || fail "others may open the socket: $(stat -c %a ctl)"

# Listening sockets are on the loopback address, or unix sockets.
python3 - "$agent_pid" <<'END'
import os, sys
fds = "/proc/%s/fd/" % sys.argv[1]
inodes = set()
for fd in os.listdir(fds):
    try:
        link = os.readlink(fds + fd)
    except OSError:
        continue
    if link.startswith("socket:["):
        inodes.add(link[8:-1])
listening = []
for name in ("tcp", "tcp6", "udp", "udp6"):
    for line in list(open("/proc/net/" + name))[1:]:
        f = line.split()
        if f[9] in inodes and (f[3] == "0A" or name.startswith("udp")):
            listening.append(f[1].split(":")[0])
assert listening, "nothing listens"
for at in listening:
    assert at == "0100007F" or at == "00000000000000000000000001000000", at
END
stop_agent
# Without a configured token there are no actions over TCP, not even with an empty token.
sed -i '/^token/d' tacho.toml
start_agent tacho.toml
expect 401 -H 'Authorization: Bearer ' $post
expect 401 -H 'Authorization: Bearer s3cret word' $post
stop_agent
