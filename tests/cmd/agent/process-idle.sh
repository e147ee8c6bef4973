# A process that sleeps and a cgroup without tasks are counting, with 0; a kernel worker has one series, whatever it
# works on.
. "$SUPPORT/lib.sh"
need python3
tacho stat -x, -e task-clock true 2>err || skip "may not count: $(cat err)"
cp "$(command -v sleep)" idlesleeper
if [ "$(id -u)" = 0 ] && mount=$(awk '$3 == "cgroup" && $4 ~ /perf_event/ || $3 == "cgroup2" { print $2; exit }' /proc/mounts) &&
	[ -n "$mount" ] && mkdir "$mount/tacho-idle-$$" 2>/dev/null; then
	trap 'rmdir "$mount/tacho-idle-$$"' EXIT
	CGROUP=tacho-idle-$$
	export CGROUP
fi
PYTHONPATH=$SUPPORT python3 - <<'END'
import ctypes
from agent_test import *

sleeper = subprocess.Popen(["./idlesleeper", "600"])
worker = subprocess.Popen(["python3", "-c", """
import ctypes, time
libc = ctypes.CDLL(None)
for i in range(1000):
    libc.prctl(15, b"kworker/9:1-ev%d" % i if i % 2 else b"kworker/9:1+mm", 0, 0, 0)
    time.sleep(0.05)
"""])
wait_until(lambda: open(f"/proc/{worker.pid}/comm").read().startswith("kworker/"), "the worker's name")
time.sleep(0.3)			# until the sleeper sleeps
EVENTS = 'interval = "50ms"\nevents = ["task-clock", "page-faults"]\n'
config = f'process = "idlesleep*"\n{EVENTS}[[source]]\nname = "worker"\nprocess = "kworker/9*"\n{EVENTS}'
group = os.environ.get("CGROUP")
if group:
    config += f'[[source]]\nname = "group"\ncgroups = ["{group}"]\n{EVENTS}'
agent = Agent(config, store="").start()

def series(source):
    return agent.get(f"/api/v1/series?source={source}")["series"]

wait_until(lambda: len([s for s in series("load") if s["time"]]) == 2, "the idle process")
for source in ["load"] + ["group"] * bool(group):
    wait_until(lambda: all(s["time"] for s in series(source)), "values")
    for s in series(source):
        check(s["state"] == "counting" and s["value"] == 0, f"an idle target: {s}")
    states = {e["state"] for e in agent.get("/api/v1/events")["events"] if e["source"] == source}
    check(states == {"counting"}, f"events of an idle target: {states}")
found = re.findall(r'^perf_page_faults_total{[^}]*source="load"} (\S+)$', agent.get("/metrics"), re.M)
check(found == ["0"], f"the metric of an idle process: {found}")
time.sleep(3)			# three refreshes
names = {s["labels"].get("comm") for s in series("worker")}
check(names <= {"kworker/9:1"} and len(series("worker")) == 2, f"series of one kernel worker: {names}")
agent.stop()
sleeper.kill()
worker.kill()
END
