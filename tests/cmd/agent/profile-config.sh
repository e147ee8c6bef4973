# [profile] in a running agent: another frequency, off and on again by reload; an event that cannot be
# sampled is told and does not stop the counting.
# run: slow
. "$SUPPORT/lib.sh"
need python3
PYTHONPATH=$SUPPORT python3 - <<'END'
from agent_profile import *

def profiler():
    return agent.get("/api/v1/status")["profiler"]

agent = Agent('[profile]\nevent = "cpu-clock"\n')
agent.start()
agent.needs_profile()
check(profiler()["frequency"] == 19 and profiler()["why"] is None, f"{profiler()}")
agent.until(20, lambda: profiler()["samples"] > 0, "samples")
agent.write('[profile]\nevent = "cpu-clock"\nfrequency = 53\n')
check(agent.ctl("reload")[0] == 0, "reload: " + str(agent.ctl("reload")))
agent.until(30, lambda: profiler()["frequency"] == 53, "the new frequency")
check("started again" not in agent.log(), "says that a restart is needed: " + agent.log())
samples = profiler()["samples"]
agent.until(20, lambda: profiler()["samples"] > samples, "samples at the new frequency")
agent.write('[profile]\nenabled = false\n')
check(agent.ctl("reload")[0] == 0, "reload: " + str(agent.ctl("reload")))
agent.until(30, lambda: not profiler()["running"], "its end")
check("profile.enabled" in profiler()["why"], f"{profiler()}")
stored = agent.get("/api/v1/profiles", **{"from": now_ms() - 60000})["windows"]
check(sum(w["samples"] for w in stored) == profiler()["samples"] > 0, f"{stored} {profiler()}")
agent.write('[profile]\nevent = "cpu-clock"\nkernel = false\n')
check(agent.ctl("reload")[0] == 0, "reload: " + str(agent.ctl("reload")))
agent.until(30, lambda: profiler()["running"], "its start")
since = now_ms()
burn(500).wait()
f = agent.until(30, lambda: (lambda f: f if f["total"] > 3 else None)(
    agent.get("/api/v1/flame", **{"from": since, "to": now_ms(), "min": 0})), "user samples")
check(0 not in f["kinds"], "the kernel, though it was not wanted")
agent.stop()

agent.write('[profile]\nevent = "mem:0:x"\n')
agent.start()
st = agent.get("/api/v1/status")
check(st["ticks"] >= 0 and (st["profiler"] is None or not st["profiler"]["running"] or st["profiler"]["samples"] >= 0), "status")
check(st["profiler"] is not None or "no continuous profile" in agent.log(), agent.log())
agent.stop()
END
