# Cgroups that live for a moment are seen, with all that was counted in them; then their series end.
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
names = [f"tacho-test-{os.getpid()}-{i}" for i in range(3)]
agent = Agent(f'interval = "500ms"\ncgroups = ["/tacho-test-{os.getpid()}-*"]\n'
              'events = ["task-clock", "context-switches"]', store="").start()
for name in names:
    path = os.path.join(root, name)
    try:
        os.mkdir(path)
        # Time for the agent to hear of it; then a tenth of a second's work, and it is gone.
        subprocess.run(["sh", "-c", f"sleep 0.1; echo $$ >{path}/cgroup.procs; i=0\n"
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

def seen():
    got = {s["labels"]["cgroup"]: s for s in agent.get("/api/v1/series?event=task-clock")["series"]
           if s["labels"]["source"] == "load"}
    return got if len(got) == 3 and all(s["value"] and s["ended"] for s in got.values()) else None

got = wait_until(seen, "three cgroups that came and went")
check(sorted(got) == sorted("/" + n for n in names), "they are called " + str(sorted(got)))
check(all(s["value"] > 0.005 for s in got.values()), "not all was counted: " + str(got))
agent.stop()
print("came and went")
END
