# A CPU budget that is too small lowers the profile's frequency and says so; a reload without it gives all
# of that back.
# run: both slow
. "$SUPPORT/lib.sh"
need python3
PYTHONPATH=$SUPPORT python3 - <<'END'
from agent_profile import *

def frequency():
    return agent.get("/api/v1/status")["profiler"]["frequency"]

agent = Agent('cpu_budget = 0.0001\n[profile]\nevent = "cpu-clock"\nfrequency = 40\n')
agent.start()
agent.needs_profile()
agent.until(60, lambda: frequency() <= 20, "a lower frequency")
agent.until(20, lambda: "the profile's frequency is now 20 Hz" in agent.log(), "a log message about it")
agent.write('[profile]\nevent = "cpu-clock"\nfrequency = 40\n')
check(agent.ctl("reload")[0] == 0, "reload")
agent.until(20, lambda: frequency() == 40, "the frequency of the file")
agent.stop()
END
