# Notifications to systemd: READY when everything runs, WATCHDOG while it counts, STOPPING at the end; and sockets
# passed by systemd are served.
. "$SUPPORT/lib.sh"
. "$SUPPORT/agent.sh"
need curl python3
need_counting
agent_head tacho.toml
cat >>tacho.toml <<END
[[source]]
name = "me"
events = ["page-faults"]
pids = [$$]
END
cat >hear.py <<'END'
import os, socket, sys
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.bind(sys.argv[1])
while True:
    print(s.recv(4096).decode(), flush=True)
END
python3 hear.py "$PWD/notify" >heard 2>hear.err &
hear_pid=$!
wait_for 10 test -S notify
export NOTIFY_SOCKET="$PWD/notify"
start_agent tacho.toml
wait_for 10 grep -qx READY=1 heard
head -n 1 heard | grep -qx READY=1 || fail "the first word is not READY"
watchdogs() {
	[ "$(grep -cx WATCHDOG=1 heard)" -ge 2 ]
}
wait_for 20 watchdogs
! grep -qx STOPPING=1 heard || fail "it stops"
stop_agent
wait_for 10 grep -qx STOPPING=1 heard
end "$hear_pid"
unset NOTIFY_SOCKET

# Socket activation: the first request starts the agent, on the port that systemd opened.
PATH=$PATH:/lib/systemd:/usr/lib/systemd
command -v systemd-socket-activate >/dev/null || skip "READY and WATCHDOG are right; needs systemd-socket-activate for the rest"
port=$(free_port)
sed -i 's|^socket = .*|socket = "'"$PWD"'/ctl2"|' tacho.toml
systemd-socket-activate -l "127.0.0.1:$port" -l "$PWD/http" "$TACHO" agent -c tacho.toml >activate.out 2>activate.err &
activate_pid=$!
agent_url=http://127.0.0.1:$port
wait_url 20 "$agent_url/metrics"
wait_for 10 grep -q "page at http://127.0.0.1:$port/" activate.err
! curl -fsS -m 2 "http://127.0.0.1:$agent_port/metrics" >out 2>&1 || fail "it listens elsewhere, too"
curl -fsS --unix-socket http http://localhost/healthz | grep -qx ok || fail "the unix socket is not served"
# An action needs no token over the unix socket, but it does over the port.
curl -fsS --unix-socket http -X POST http://localhost/api/v1/ctl/read-now >out || fail "no action by the socket"
status=$(curl -sS -o out -w '%{http_code}' -X POST "$agent_url/api/v1/ctl/read-now")
[ "$status" = 401 ] || fail "an action without a token: $status"
end "$activate_pid"
[ -S http ] || fail "it removed a socket that was not its own"
