# run: alone
# A process is counted with its threads and without its children, which have series of their own or, if they live
# for milliseconds, are in comm="other"; with children = true it is counted together with them.
. "$SUPPORT/lib.sh"
need python3
tacho stat -a -x, -e context-switches sleep 0.01 2>err || skip "may not count CPUs: $(cat err)"
cp "$(command -v python3)" kinparent
cp "$(command -v python3)" kinchild
PYTHONPATH=$SUPPORT python3 - <<'END'
import resource
from agent_test import *

CHILD = "import time\nwhile time.process_time() < {}: pass\n"
PARENT = """
import resource, subprocess, sys, threading, time
def spin():
    while time.thread_time() < 0.3: pass
t = threading.Thread(target=spin); t.start(); t.join()
sys.stdin.readline()
subprocess.run(["./kinchild", "-S", "-c", sys.argv[1]], check=True)
for i in range(10):
    subprocess.run(["./kinchild", "-S", "-c", sys.argv[2]], check=True)
own, child = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
print(own.ru_utime + own.ru_stime, child.ru_utime + child.ru_stime, flush=True)
sys.stdin.readline()
"""

def run(children):
    agent = Agent(f'process = "kin*"\nchildren = {children}\ninterval = "100ms"\nevents = ["task-clock"]',
                  store="").start()
    parent = subprocess.Popen(["./kinparent", "-S", "-c", PARENT, CHILD.format(1), CHILD.format(0.04)],
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    def value(comm):
        found = re.findall(rf'^perf_task_clock_seconds_total{{comm="{comm}"[^}}]*}} (\S+)$', agent.get("/metrics"), re.M)
        return sum(float(v) for v in found)
    wait_until(lambda: value("kinparent") > 0.25, "the parent to be counted")
    parent.stdin.write("\n")
    parent.stdin.flush()
    own, child = (float(word) for word in parent.stdout.readline().split())
    time.sleep(1.5)			# the next refresh, and a tick
    agent.ctl("read-now")
    values = {comm: value(comm) for comm in ("kinparent", "kinchild", "other")}
    parent.stdin.close()
    parent.wait()
    agent.stop()
    return own, child, values

own, child, got = run("false")
print(own, child, got)
check(abs(got["kinparent"] - own) < 0.3, f"the parent used {own:.2f} s, counted are {got}")
check(got["kinchild"] > 0.9, f"the first child used 1 s, counted are {got}")
# On a busy machine, children of milliseconds live long enough for series of their own.
check(got["kinchild"] + got["other"] > child - 0.15, f"the children used {child:.2f} s, counted are {got}")
check(sum(got.values()) < (own + child) * 1.1 + 0.1, f"{own + child:.2f} s were used, counted are {got}")
own, child, got = run("true")
print(own, child, got)
check(got["kinchild"] + got["other"] == 0, f"the children are counted twice: {got}")
check(abs(got["kinparent"] - own - child) < 0.3, f"parent and children used {own + child:.2f} s, counted are {got}")
END
