# Short-lived cgroups are counted completely; then their series end.
. "$SUPPORT/lib.sh"
need python3
tacho stat -a -x, -e task-clock sleep 0.01 2>err || skip "may not count CPUs: $(cat err)"
PYTHONPATH=$SUPPORT python3 - <<'END'
import os, subprocess, time
from agent_test import *

def skip(why):
    print(why, file=sys.stderr)
    sys.exit(77)

with open("/proc/mounts", encoding="utf-8") as f:
    mounts = [line.split() for line in f]
root = next((m[1] for m in mounts if m[2] == "cgroup" and "perf_event" in m[3].split(",")), None) or \
    next((m[1] for m in mounts if m[2] == "cgroup2"), None) or skip("no cgroups are mounted")
names = []
agent = Agent(f'interval = "500ms"\ncgroups = ["/tacho-test-{os.getpid()}-*"]\n'
              'events = ["task-clock", "context-switches"]', store="").start()
# Give the agent time to notice the cgroup, work for a tenth of a second, and remove it. The agent's check every
# second would usually be too late; if the machine stalled, try again with another cgroup.
for i in range(9):
    name = f"tacho-test-{os.getpid()}-{i}"
    path = os.path.join(root, name)
    wait_until(lambda: agent.counters() == 0, "the counters of the one before to be closed")
    try:
        os.mkdir(path)
        time.sleep(0.1)
        if agent.counters() == 0:
            continue
        names.append(name)
        subprocess.run(["sh", "-c", f"echo $$ >{path}/cgroup.procs; i=0\n"
                        "while [ $i -lt 60000 ]; do i=$((i+1)); done"], check=True)
    except (OSError, subprocess.CalledProcessError) as e:
        skip(f"may not make cgroups: {e}")
    finally:
        for _ in range(100):
            try:
                os.rmdir(path)
                break
            except FileNotFoundError:
                break
            except OSError:
                time.sleep(0.02)
    if len(names) == 3:
        break
check(len(names) == 3, f"of nine it has heard in time only of {names}")

def seen():
    got = {s["labels"]["cgroup"]: s for s in agent.get("/api/v1/series?event=task-clock")["series"]
           if s["labels"]["source"] == "load" and s["labels"]["cgroup"][1:] in names}
    return got if len(got) == 3 and all(s["value"] and s["ended"] for s in got.values()) else None

wait_until(seen, "three cgroups that came and went")
check(agent.ctl("read-now")[0] == 0, "read-now")	# an end is known before the next reading tells the last of it
got = seen()
check(sorted(got) == sorted("/" + n for n in names), "they are called " + str(sorted(got)))
check(all(s["value"] > 0.005 for s in got.values()), "not all was counted: " + str(got))
agent.stop()
print("came and went")
END
