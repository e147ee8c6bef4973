# A late read, just before the next one, replaces it: two reads would have the same timestamp.
. "$SUPPORT/lib.sh"
need python3
tacho stat -x, -e page-faults true 2>err || skip "may not count: $(cat err)"
PYTHONPATH=$SUPPORT python3 - <<'END'
import time
from agent_test import *

INTERVAL = 0.4
agent = Agent(f'interval = "400ms"\nevents = ["page-faults"]\npids = [{os.getpid()}]', store="",
              more=f'[[export]]\ntype = "jsonl"\npath = "{os.getcwd()}/points.jsonl"\nflush = "100ms"\n').start()

def times():
    with open("points.jsonl", encoding="utf-8") as f:
        found = [json.loads(line) for line in f if line.endswith("\n")]
    return [float(p["time"][17:29]) for p in found if p["source"] == "load"]

def sleep_until(phase):
    """Readings are at multiples of the interval, by this clock."""
    now = time.monotonic()
    time.sleep((phase * INTERVAL - now) % INTERVAL)

def least_gap():
    n = len(times())
    sleep_until(0.5)
    agent.child.send_signal(signal.SIGSTOP)
    time.sleep(0.3 * INTERVAL)
    sleep_until(0.5)
    time.sleep(0.45 * INTERVAL)
    agent.child.send_signal(signal.SIGCONT)
    wait_until(lambda: len(times()) >= n + 4, "more readings")
    since = times()[max(n - 1, 0):]
    return min((b - a) % 60 for a, b in zip(since, since[1:]))

wait_until(lambda: os.path.exists("points.jsonl") and len(times()) >= 2, "readings")
# The machine may stall between the clock and the read: one of three attempts must succeed.
gaps = []
while len(gaps) < 3 and not any(gap > INTERVAL / 4 for gap in gaps):
    gaps.append(least_gap())
check(any(gap > INTERVAL / 4 for gap in gaps), f"readings {gaps} seconds apart")
agent.stop()
END
