# A store on a full disk: the agent continues, logs it, keeps a limited amount in memory, drops and counts the
# rest, and writes again when there is space.
. "$SUPPORT/lib.sh"
need python3 mount
tacho stat -a -x, -e context-switches sleep 0.01 2>err || skip "may not count CPUs: $(cat err)"
[ "$(id -u)" = 0 ] || skip "only root can mount a small disk"
mkdir disk
mount -t tmpfs -o size=8m,mode=700 none disk 2>err || skip "cannot mount a tmpfs: $(cat err)"
trap 'umount -l disk' EXIT
PYTHONPATH=$SUPPORT python3 - <<'END'
import os, signal, time
from agent_test import *

EVENTS = 'per = "cpu"\nevents = ["task-clock", "context-switches", "page-faults", "cpu-migrations"]'
MORE = "".join(f'\n[[source]]\nname = "more{i}"\ninterval = "5ms"\n{EVENTS}' for i in range(6))
# A small limit that is soon exceeded.
agent = Agent('interval = "20ms"\n' + EVENTS + MORE, store="disk/agent.db",
              more='[agent.retention]\npending = "64K"').start()
check(agent.ctl("read-now")[0] == 0, "read-now before")
check(agent.get("/api/v1/status")["store"]["points_dropped"] == 0, "drops before the disk is full")
ballast = os.open("disk/ballast", os.O_WRONLY | os.O_CREAT)	# takes all that is left
try:
    while True:
        os.write(ballast, bytes(4096))
except OSError:
    os.close(ballast)

def store():
    agent.ctl("read-now")
    return agent.get("/api/v1/status")["store"]

before = agent.get("/api/v1/status")
full = wait_until(lambda: (s := store())["error"] and s, "an error of the store", 60)
check("full" in full["error"] or "I/O" in full["error"], "the error says: " + full["error"])
full = wait_until(lambda: (s := store())["points_dropped"] > 1000 and s, "more than may wait", 60)
check(full["error"], "it drops without an error")
status = agent.get("/api/v1/status")
check(status["ticks"] > before["ticks"], "it does not tick any more")
check("full" in agent.text() or "I/O" in agent.text(), "it does not say so: " + agent.text())
check(agent.get("/metrics").count("perf_context_switches_total{") >= 1, "no metrics")
wait_until(lambda: (agent.metric("tacho_store_dropped_points_total") or 0) >= 1000, "the drops at /metrics")
os.unlink("disk/ballast")
room = time.time() * 1000
wait_until(lambda: store()["error"] is None, "the store to recover", 60)

def points():
    answer = agent.get("/api/v1/query?event=context-switches&label=source=load&func=value&from=-10m&step=0s&max=11000")
    return [p for s in answer["series"] for p in s["points"] if s["labels"]["cpu"] == "0"]

wait_until(lambda: (store(), points()[-1][0] > room + 500)[1], "new points", 30)
got = points()
twice = [(i, a, b) for i, (a, b) in enumerate(zip(got, got[1:])) if a[0] >= b[0]]
check(not twice, f"a time is there twice, or out of order: {twice[:5]} of {len(got)}")
check(all(a[1] <= b[1] for a, b in zip(got, got[1:])), "the counter falls")
dropped = store()["points_dropped"]
time.sleep(0.5)
check(store()["points_dropped"] == dropped, "it goes on dropping")

# Killed and started again while the disk is full: it counts, and the history from before and from meanwhile is there later.
def fill():
    with open("disk/ballast", "wb", buffering=0) as f:
        try:
            while True:
                f.write(bytes(4096))
        except OSError:
            pass

agent.ctl("read-now")
kept = [p for p in points() if p[0] < time.time() * 1000 - 1000]
fill()
agent.stop(signal.SIGKILL)
for name in ("agent.db-shm",):
    if os.path.exists("disk/" + name):
        os.unlink("disk/" + name)		# SQLite makes it again when the file is opened
fill()
agent.start()
started = time.time() * 1000
check(agent.get("/api/v1/status")["store"]["error"], "no error of the store: " + agent.text())
check("waits in memory" in agent.text(), "it does not say so: " + agent.text())
time.sleep(1)
os.unlink("disk/ballast")
freed = time.time() * 1000
wait_until(lambda: store()["error"] is None, "the store to be opened", 60)
check(not os.path.exists("disk/agent.db.damaged"), "a full disk was taken for damage")
wait_until(lambda: (store(), points()[-1][0] > freed)[1], "new points", 30)
have = {p[0] for p in points()}
check(all(p[0] in have for p in kept), "history from before the kill is missing")
check(any(started <= t < freed for t in have), "nothing from while the disk was full")
agent.stop()
print("recovered")
END
