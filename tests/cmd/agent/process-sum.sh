# run: alone slow
# The CPU time of all processes together is the busy time of the machine, also beside a compiler that starts many short
# processes. TACHO_SUM_SECONDS=60 is the long form, with a smaller tolerance.
. "$SUPPORT/lib.sh"
need python3
tacho stat -a -x, -e context-switches sleep 0.01 2>err || skip "may not count CPUs: $(cat err)"
[ "$(readlink /proc/self/ns/pid)" = 'pid:[4026531836]' ] || skip "sees only the processes of its PID namespace"
PYTHONPATH=$SUPPORT python3 - <<'END'
import shutil
from agent_test import *

seconds = float(os.environ.get("TACHO_SUM_SECONDS", "8"))
tolerance = 0.02 if seconds >= 30 else 0.06
agent = Agent('process = "*"\ninterval = "200ms"\nevents = ["task-clock", "page-faults", "context-switches"]',
              store="").start()

def counted():
    agent.ctl("read-now")
    found = re.findall(r'^perf_task_clock_seconds_total{[^}]*source="load"} (\S+)$', agent.get("/metrics"), re.M)
    return sum(float(v) for v in found)

def busy():
    with open("/proc/stat", encoding="ascii") as f:
        user, nice, system = f.readline().split()[1:4]
    return (int(user) + int(nice) + int(system)) / os.sysconf("SC_CLK_TCK")

with open("t.c", "w", encoding="ascii") as f:
    f.write('#include <stdio.h>\n#include <stdlib.h>\n#include <math.h>\nint main(void) { return puts("x"); }\n')
work = "cc -O2 -c t.c -o $0.o" if shutil.which("cc") else "awk 'BEGIN { for (i = 0; i < 300000; i++) s += i }'"
time.sleep(1.5)
before, busy_before = counted(), busy()
jobs = [subprocess.Popen(["sh", "-c", f"while :; do {work}; done", str(i)]) for i in range(os.cpu_count() + 1)]
time.sleep(seconds)
for job in jobs:
    job.kill()
for job in jobs:
    job.wait()
time.sleep(1)
after, busy_after = counted(), busy()
sum_s, busy_s = after - before, busy_after - busy_before
print(f"counted {sum_s:.2f} s, busy {busy_s:.2f} s: {100 * sum_s / busy_s - 100:+.2f} %; "
      f"the agent used {agent.metric('tacho_cpu_seconds_total'):.2f} s")
check(busy_s > seconds / 4, "the machine was not busy")
check(abs(sum_s / busy_s - 1) < tolerance, f"the processes counted {sum_s:.2f} s, the machine was busy for {busy_s:.2f} s")
agent.stop()
END
