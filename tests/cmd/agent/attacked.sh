# 10,000 broken requests, readers that never read, clients that dawdle, 200 connections at once: the
# agent goes on answering, in bounded memory. By default it listens on the loopback only.
# run: both slow
. "$SUPPORT/lib.sh"
need python3
tacho stat -a -x, -e context-switches sleep 0.01 2>err || skip "may not count CPUs: $(cat err)"
# A sanitizer keeps what is freed for a while.
! grep -q __asan_init "$BUILD/tacho-agent" || export SANITIZED=1
PYTHONPATH=$SUPPORT python3 - <<'END'
import os, socket, subprocess, time
from agent_test import *

N, WORKERS = 10000, 4
agent = Agent('interval = "20ms"\nper = "cpu"\nevents = ["task-clock", "context-switches", '
              '"page-faults", "cpu-migrations"]', more='token = "secret"').start()
attack = os.path.join(os.environ["SUPPORT"], "http-attack")

def round_of(n, seed):
    workers = [subprocess.Popen([attack, str(agent.port), str(n // WORKERS), str(seed + i)],
                                stdout=subprocess.PIPE, text=True) for i in range(WORKERS)]
    sent = answered = 0
    for w in workers:
        numbers = list(map(int, w.communicate()[0].split()))
        check(w.returncode == 0 and len(numbers) == 2, "the attacker was refused a connection")
        sent += numbers[0]
        answered += numbers[1]
    return sent, answered

def connect(text):
    s = socket.create_connection(("127.0.0.1", agent.port), 10)
    s.sendall(text)
    return s

def listening(pid):
    """Local addresses of the sockets that the process listens at, as /proc writes them."""
    inodes = {os.readlink(f"/proc/{pid}/fd/{fd}")[8:-1] for fd in os.listdir(f"/proc/{pid}/fd")}
    found = []
    for table in ("tcp", "tcp6"):
        with open(f"/proc/{pid}/net/{table}", encoding="utf-8") as f:
            for row in list(f)[1:]:
                word = row.split()
                if word[3] == "0A" and word[9] in inodes:
                    found.append(word[1].split(":")[0])
    return found

check(listening(agent.child.pid) == ["0100007F"], "it listens at " + str(listening(agent.child.pid)))
round_of(1000, 100)			# buffers reach their size
before = agent.resident_kb()
sent, answered = round_of(N - 1000, 200)
check(agent.child.poll() is None, "the agent is gone")
check(agent.get("/healthz") == "ok\n", "it does not answer")
check(answered > sent / 3, f"only {answered} of {sent} were answered")
grown = agent.resident_kb() - before
check(grown < 16 << 10 or "SANITIZED" in os.environ, f"memory grew by {grown} kB")

# Readers of live data that never read; each may have half a megabyte waiting.
token = agent.credentials()["Authorization"].encode()
deaf = [connect(b"GET /api/v1/live HTTP/1.1\r\nHost: localhost\r\nAuthorization: " + token + b"\r\n\r\n")
        for _ in range(60)]
# Clients that dawdle: a byte now and then.
slow = [connect(b"GET /metrics HTTP/1.1\r\nHo") for _ in range(100)]
# 200 at once, with those.
many = [connect(b"") for _ in range(40)]
start = time.monotonic()
while time.monotonic() < start + 3:
    for s in slow:
        try:
            s.sendall(b"s")
        except OSError:
            pass
    check(agent.get("/healthz", 5) == "ok\n", "it does not answer beside slow clients")
    time.sleep(0.2)
for s in deaf + slow + many:
    s.close()
check(agent.get("/api/v1/status")["version"], "no status")
ticks = agent.get("/api/v1/status")["ticks"]
wait_until(lambda: agent.get("/api/v1/status")["ticks"] > ticks, "it does not tick any more")
grown = agent.resident_kb() - before
check(grown < 40 << 10 or "SANITIZED" in os.environ, f"memory grew by {grown} kB")
# Nothing that was asked without the token was done.
check(all(e["state"] != "paused" for e in agent.get("/api/v1/events")["events"]), "it was paused")
agent.stop()

# Without any word about listening: loopback only.
with open("bare.toml", "w", encoding="utf-8") as f:
    f.write('[profile]\nenabled = false\n')
shown = subprocess.run([TACHO, "config", "show", "-c", "bare.toml"], capture_output=True, text=True)
listen = re.search(r"^listen = (.*)$", shown.stdout, re.M)
check(listen and listen.group(1) == '["127.0.0.1:9273"]', "by default it listens at " + shown.stdout)
print("stands")
END
