# kill -9, twenty times, while it writes and is asked: the store opens, nothing is there twice, no
# counter falls within a run, and what read-now acknowledged is there.
# run: slow
. "$SUPPORT/lib.sh"
need python3
tacho stat -a -x, -e context-switches sleep 0.01 2>err || skip "may not count CPUs: $(cat err)"
PYTHONPATH=$SUPPORT python3 - <<'END'
import random, signal, threading, time
from agent_test import *

ROUNDS = 20
agent = Agent('interval = "10ms"\nper = "cpu"\nevents = ["task-clock", "context-switches", '
              '"page-faults", "cpu-migrations", "{cpu-clock,minor-faults}"]')
acknowledged, starts = [], []
dice = random.Random(4)
first = time.time() * 1000 - 1000

def ask(stop):
    while not stop.is_set():
        try:
            agent.get("/api/v1/query?func=value&from=-10s&step=0s", 5)
        except OSError:
            pass

for i in range(ROUNDS):
    starts.append(time.time() * 1000)
    agent.start()
    stop = threading.Event()
    asking = threading.Thread(target=ask, args=(stop,))
    asking.start()
    time.sleep(dice.uniform(0.05, 0.2))
    asked = int(time.time() * 1000)
    status, said = agent.ctl("read-now")
    check(status == 0, "read-now: " + said)
    acknowledged.append((asked, time.time() * 1000))
    time.sleep(dice.uniform(0, 0.3))
    agent.stop(signal.SIGKILL)
    stop.set()
    asking.join()
agent.start()
check("damaged" not in agent.text(), "the store was damaged: " + agent.text())
answer = agent.get(f"/api/v1/query?func=value&from={first}&to=now&step=0s&max=11000")
series = [s for s in answer["series"] if s["labels"]["source"] == "load" and s["kind"] == "counter"]
check(len(series) >= 6, f"only {len(series)} series")
for s in series:
    name = s["event"] + str(s["labels"])
    times = [p[0] for p in s["points"]]
    check(all(a < b for a, b in zip(times, times[1:])), f"{name}: a time is there twice")
    falls = [b[0] for a, b in zip(s["points"], s["points"][1:]) if b[1] < a[1]]
    for t in falls:
        at = [x for x in starts if x <= t]
        before = [p[0] for p in s["points"] if p[0] < t]
        check(at and before[-1] < at[-1], f"{name}: falls at {t} without a restart")
    for asked, t in acknowledged:
        check(any(asked <= x <= t for x in times), f"{name}: nothing from between {asked} and {t}")
rates = agent.get(f"/api/v1/query?func=rate&from={first}&to=now&step=1s")
for s in rates["series"]:
    if s["kind"] == "counter":
        check(all(p[1] is None or p[1] >= 0 for p in s["points"]), f"{s['event']}: a rate is negative")
agent.stop()
print("killed", len(acknowledged))
END
