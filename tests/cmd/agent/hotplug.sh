# A CPU goes offline and comes back: its series say so and go on, no counter falls, others are not touched.
# The profile has samples of it again.
# run: alone slow
. "$SUPPORT/lib.sh"
need python3
tacho stat -a -x, -e context-switches sleep 0.01 2>err || skip "may not count CPUs: $(cat err)"
cpu=$(sed 's/.*[-,]//' /sys/devices/system/cpu/online)
switch=/sys/devices/system/cpu/cpu$cpu/online
[ "$cpu" != 0 ] || skip "there is only one CPU"
[ -w "$switch" ] || skip "CPU $cpu cannot be switched off: $switch is not writable"
back() { echo 1 >"$switch"; }
# It comes back whatever happens to this test: once more before that is stopped.
{ sleep 150; back; } >/dev/null 2>&1 &
guard=$!
trap 'back; kill $guard 2>/dev/null || true' EXIT
{ echo 0 >"$switch"; } 2>err || skip "CPU $cpu cannot be switched off: $(cat err)"
back
CPU=$cpu SWITCH=$switch PYTHONPATH=$SUPPORT python3 - <<'END'
import os
from agent_test import *

CPU, SWITCH = os.environ["CPU"], os.environ["SWITCH"]
agent = Agent('interval = "20ms"\nper = "cpu"\nevents = ["task-clock", "context-switches"]\n'
              '[[source]]\nname = "all"\nper = "machine"\nevents = ["task-clock"]\ninterval = "20ms"', store="agent.db").start()

def series(cpu, source="load", event="task-clock"):
    found = [s for s in agent.get(f"/api/v1/series?source={source}")["series"]
             if s["event"] == event and s["labels"].get("cpu") == cpu]
    check(len(found) == 1, f"{len(found)} series of CPU {cpu}")
    return found[0]

def switch(on):
    with open(SWITCH, "w", encoding="utf-8") as f:
        f.write(str(on))

def counts(cpu):
    s = series(cpu)
    return s["state"] == "counting" and s["value"] and s

before = wait_until(lambda: counts(CPU), "a value")
total = wait_until(lambda: series(None, "all")["value"], "the machine's value")
try:
    switch(0)
    off = wait_until(lambda: (s := series(CPU))["state"] == "offline" and s, "the state offline")
    check(f"CPU {CPU} is offline" in (off["reason"] or ""), f"{off}")
    check(not off["ended"] and off["id"] == before["id"] and off["value"] is None, f"{off}")
    other = series("0")
    check(other["state"] == "counting", f"{other}")
    wait_until(lambda: series("0")["time"] > other["time"], "the other CPU goes on")
    metrics = agent.get("/metrics")
    check(f'perf_task_clock_seconds_total{{cpu="{CPU}"' not in metrics and 'cpu="0"' in metrics, "a value of a CPU that is offline")
    still = series(CPU)
    check(still["state"] == "offline" and still["time"] == off["time"], f"{still}")
finally:
    switch(1)
on = wait_until(lambda: counts(CPU), "it counts again")
check(on["id"] == before["id"] and on["start"] == before["start"], f"another series: {before} {on}")
check(on["value"] >= before["value"] and on["reason"] is None, f"it fell: {before} {on}")
wait_until(lambda: series(CPU)["value"] > on["value"], "it goes on")
after = series(None, "all")
check(after["value"] >= total, f"the machine's counter fell from {total} to {after}")
check(agent.ctl("read-now")[0] == 0, "read-now")
for source in "load", "all":
    answer = agent.get(f"/api/v1/query?event=task-clock&label=source={source}&func=value&from=-10m&step=0s&max=11000")
    for s in answer["series"]:
        points = s["points"]
        check(all(a[0] < b[0] and a[1] <= b[1] for a, b in zip(points, points[1:])), f"{s['labels']} falls")
    check(answer["series"], "nothing was stored")
check("CPUs online are now" in agent.text(), "it was not said")
agent.stop()
END
CPU=$cpu SWITCH=$switch PYTHONPATH=$SUPPORT python3 - <<'END'
from agent_profile import *

CPU, SWITCH = int(os.environ["CPU"]), os.environ["SWITCH"]
agent = Agent('default_sources = false\n[profile]\nfrequency = 97\nwindow = "1s"\nevent = "cpu-clock"\n')
agent.start()
agent.needs_profile()
agent.settle(now_ms())
def switch(on):
    with open(SWITCH, "w", encoding="utf-8") as f:
        f.write(on)
all_cpus = agent.counters()
try:
    switch("0")
    agent.until(30, lambda: 0 < agent.counters() < all_cpus, "its counter to be closed")
finally:
    switch("1")
back = now_ms()
os.sched_setaffinity(0, {CPU})
def sampled():
    end = time.monotonic() + 0.3
    while time.monotonic() < end:
        pass
    return agent.get("/api/v1/flame", **{"from": back, "to": now_ms() + 1, "cpu": CPU})["total"]
agent.until(20, sampled, f"samples of CPU {CPU}")
agent.stop()
END
