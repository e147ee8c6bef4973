# The agent's counters and `tacho stat -a` over the same time agree within 1 %, and both match the work
# that was done.
# run: both
. "$SUPPORT/lib.sh"
need python3
tacho stat -a -x, -e syscalls:sys_enter_umask sleep 0.01 2>err || skip "may not count: $(cat err)"
PYTHONPATH=$SUPPORT python3 - <<'END'
import subprocess
from agent_test import *

# A system call that hardly any other process makes, a known number of times.
N = 200000
agent = Agent('interval = "100ms"\nper = "cpu"\nevents = ["syscalls:sys_enter_umask", "{task-clock,'
              'syscalls:sys_exit_umask}", "cpu-clock"]', store="").start()

def total(name):
    check(agent.ctl("read-now")[0] == 0, "read-now")
    found = re.findall(rf"^{name}_total{{[^}}]*}} (\S+)$", agent.get("/metrics"), re.M)
    check(found, f"no {name}")
    return sum(map(float, found))

names = {"syscalls:sys_enter_umask": "perf_syscalls_sys_enter_umask",
         "syscalls:sys_exit_umask": "perf_syscalls_sys_exit_umask"}
before = {event: total(name) for event, name in names.items()}
work = f"import os\nfor i in range({N}): os.umask(63)"
subprocess.run([TACHO, "stat", "-a", "-x,", "-o", "stat.csv", "-e", ",".join(names), "python3", "-c",
                work], check=True)
ours = {event: total(name) - before[event] for event, name in names.items()}
with open("stat.csv", encoding="utf-8") as f:
    rows = [line.split(",") for line in f if "," in line]
theirs = {row[2]: float(row[0]) for row in rows if row[2] in names}
for event in names:
    check(theirs[event] >= N, f"{event}: {theirs[event]} by stat")
    check(abs(ours[event] - theirs[event]) <= 0.01 * theirs[event],
          f"{event}: {ours[event]} here, {theirs[event]} by stat")
agent.stop()
print("agrees")
END
