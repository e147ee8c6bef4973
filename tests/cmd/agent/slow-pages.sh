# While a recording is made for one client, the others are served, also on connections opened before.
# A second recording is refused meanwhile; a client that disconnects, and stopping the agent, cause no trouble.
. "$SUPPORT/lib.sh"
need python3
PYTHONPATH=$SUPPORT python3 - <<'END'
import http.client, socket, threading
from agent_profile import *

agent = Agent('token = "word"\n[profile]\nevent = "cpu-clock"\n')
agent.start()
agent.needs_profile()

def post(path, out):
    c = http.client.HTTPConnection("127.0.0.1", agent.port, timeout=100)
    c.request("POST", path, headers={"Authorization": "Bearer word"})
    r = c.getresponse()
    out.append((r.status, r.read().decode()))

def get(c):
    c.request("GET", "/healthz")
    return c.getresponse().read()

before = [http.client.HTTPConnection("127.0.0.1", agent.port, timeout=60) for _ in range(8)]
check(all(get(c) == b"ok\n" for c in before), "connections")
first, second, left = [], [], []
counters = agent.counters()		# a recording has its own
recording = threading.Thread(target=post, args=("/api/v1/ctl/profile?value=8s", first))
recording.start()
agent.until(30, lambda: agent.counters() > counters, "the recording")
check(all(get(c) == b"ok\n" for c in before), "connections during a recording")
post("/api/v1/ctl/profile?value=1s", second)
for n in range(20):		# these leave before their page is there
    with socket.create_connection(("127.0.0.1", agent.port)) as s:
        token = agent.credentials()["Authorization"].encode()
        ask = b"GET /api/v1/flame?from=-1h HTTP/1.1\r\nHost: localhost\r\nAuthorization: " + token + b"\r\n\r\n"
        s.sendall(ask * (n % 3 + 1))
check(agent.get("/api/v1/flame", **{"from": "-1h"})["schema"] == "tacho.flame.v1", "a flame graph")
check(recording.is_alive() and not first, "all that had to wait for the recording")
check(second[0][0] == 409 and "in progress" in second[0][1], f"a second recording: {second}")
recording.join()
check(first[0][0] == 200 and ".svg" in first[0][1], f"the recording: {first}")
last = threading.Thread(target=post, args=("/api/v1/ctl/profile?value=100s", left))
last.start()
agent.until(30, lambda: agent.counters() > counters, "the last recording")
agent.stop()
last.join()
# On a busy machine, there may be no sample yet.
check(left and (left[0][0] in (200, 503) or left[0][0] == 404 and "no samples" in left[0][1]),
      f"a recording that the end cut short: {left}")
END
