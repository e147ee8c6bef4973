# A reload by signal and by ctl: an equal file changes nothing, a changed one keeps the counters that are in
# both, an invalid one is refused and nothing stops.
. "$SUPPORT/lib.sh"
need python3
tacho stat -a -x, -e context-switches sleep 0.01 2>err || skip "may not count CPUs: $(cat err)"
PYTHONPATH=$SUPPORT python3 - <<'END'
import os, signal
from agent_test import *

BASE = 'interval = "20ms"\nper = "cpu"\nevents = ["context-switches", "task-clock"]'
agent = Agent(BASE, store="").start()

def series(event):
    return {s["labels"]["cpu"]: s for s in agent.get("/api/v1/series?source=load")["series"]
            if s["event"] == event and not s["ended"] and s["value"] is not None}

def goes_on(before, event, what):
    after = wait_until(lambda: (now := series(event)) and
                       all(now[c]["time"] > s["time"] for c, s in before.items()) and now, what)
    for cpu, s in before.items():
        check(after[cpu]["id"] == s["id"], f"{what}: another series")
        check(after[cpu]["value"] >= s["value"], f"{what}: {event} fell")
        check(after[cpu]["start"] == s["start"], f"{what}: {event} began anew")
    return after

first = wait_until(lambda: series("task-clock"), "the first values")
status, said = agent.ctl("reload")
check(status == 0, "an equal file: " + said)
before = goes_on(first, "task-clock", "an equal file")

agent.configure('interval = "20ms"\nper = "cpu"\nevents = ["task-clock", "page-faults"]')
status, said = agent.ctl("reload")
check(status == 0, "a changed file: " + said)
before = goes_on(before, "task-clock", "a changed file")
wait_until(lambda: series("page-faults"), "the new event")
check(not series("context-switches"), "an event that has gone still counts")

with open(agent.config, "a", encoding="utf-8") as f:
    f.write("\nevnets = 1\n")
status, said = agent.ctl("reload")
check(status != 0 and "evnets" in said, "a broken file was taken: " + said)
before = goes_on(before, "task-clock", "a broken file")
agent.child.send_signal(signal.SIGHUP)
wait_until(lambda: "was not reloaded" in agent.text(), "the refusal in the log")
before = goes_on(before, "task-clock", "a broken file, by signal")

agent.configure('interval = "20ms"\nper = "cpu"\nevents = ["task-clock"]')
agent.more = ""
agent.child.send_signal(signal.SIGHUP)
wait_until(lambda: not series("page-faults"), "SIGHUP to be followed")
goes_on(before, "task-clock", "a changed file, by signal")
agent.configure(BASE + '\n[[trigger]]\nname = "t"\nwhen = "rate(task-clock >"')
status, said = agent.ctl("reload")
check(status != 0, "a broken trigger was taken: " + said)
check(not series("context-switches"), "half of a broken file was taken")

# A source whose command does not exist: the others continue, in any order.
agent.configure('priority = 5\ncommand = ["./none"]\nevents = ["page-faults"]\n'
                '[[source]]\nname = "after"\ninterval = "20ms"\nevents = ["task-clock"]')
status, said = agent.ctl("reload")
check(status != 0 and "./none" in said, "a command that is not there was run: " + said)
wait_until(lambda: [s for s in agent.get("/api/v1/series?source=after")["series"] if s["value"]],
           "the source behind it")
agent.configure(BASE)
status, said = agent.ctl("reload")
check(status == 0, "the file of before: " + said)
wait_until(lambda: series("context-switches"), "the source that came back")
agent.stop()
print("reloaded")
END
