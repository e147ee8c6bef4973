# A store on a disk that is full: the agent goes on, says so, counts what it drops, and writes again
# once there is room.
. "$SUPPORT/lib.sh"
need python3 mount
tacho stat -a -x, -e context-switches sleep 0.01 2>err || skip "may not count CPUs: $(cat err)"
[ "$(id -u)" = 0 ] || skip "only root can mount a small disk"
mkdir disk
mount -t tmpfs -o size=1m,mode=700 none disk 2>err || skip "cannot mount a tmpfs: $(cat err)"
trap 'umount -l disk' EXIT
PYTHONPATH=$SUPPORT python3 - <<'END'
import os, time
from agent_test import *

agent = Agent('interval = "20ms"\nper = "cpu"\nevents = ["task-clock", "context-switches", '
              '"page-faults", "cpu-migrations"]', store="disk/agent.db").start()
check(agent.ctl("read-now")[0] == 0, "read-now before")
ballast = os.open("disk/ballast", os.O_WRONLY | os.O_CREAT)	# takes all that is left
try:
    while True:
        os.write(ballast, bytes(4096))
except OSError:
    os.close(ballast)
before = agent.get("/api/v1/status")
store = wait_until(lambda: (agent.ctl("read-now"), agent.get("/api/v1/status")["store"])[1]["error"]
                   and agent.get("/api/v1/status")["store"], "an error of the store", 60)
check("full" in store["error"] or "I/O" in store["error"], "the error says: " + store["error"])
status = agent.get("/api/v1/status")
check(status["ticks"] > before["ticks"], "it does not tick any more")
check("full" in agent.text() or "I/O" in agent.text(), "it does not say so: " + agent.text())
check(agent.get("/metrics").count("perf_context_switches_total{") >= 1, "no metrics")
os.unlink("disk/ballast")
wait_until(lambda: (agent.ctl("read-now"), agent.get("/api/v1/status")["store"]["error"])[1] is None,
           "the store to recover", 60)
answer = agent.get("/api/v1/query?event=context-switches&func=value&from=-10m&step=0s&max=11000")
points = [p for s in answer["series"] for p in s["points"] if s["labels"]["cpu"] == "0"]
times = [p[0] for p in points]
check(all(a < b for a, b in zip(times, times[1:])), "a time is there twice")
check(all(a[1] <= b[1] for a, b in zip(points, points[1:])), "the counter falls")
gap = max(b - a for a, b in zip(times, times[1:]))
dropped = agent.get("/api/v1/status")["store"]["points_dropped"]
check(gap < 2000 or dropped, f"{gap} ms are missing, and no drop was counted")
agent.stop()
print("recovered")
END
