"""A long run of the agent under everything that production has for it at once; see run.

    agent.py SECONDS

Phases, one after the other and again: short-lived processes, control groups, slow clients, a full disk, dead receivers, and kill -9 in
the middle. Prints what the agent used every tenth of the time, and fails if something was lost or grew: each reading that the agent made
must arrive, except those of the second before kill -9. Readings that it could not make in time, because other programs kept the CPUs
busy, are counted by the agent itself.
"""
import glob
import json
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time

from agent_test import Agent, check, wait_until

SECONDS = int(sys.argv[1])
INTERVAL = 0.5
CGROUPS, SLOW_CLIENTS, PROCESSES = 3000, 300, 2000
TICK = os.sysconf("SC_CLK_TCK")
stopping = threading.Event()


def cgroup_root():
    for line in open("/proc/mounts", encoding="utf-8"):
        where, kind, options = line.split()[1:4]
        if kind == "cgroup2" or (kind == "cgroup" and "perf_event" in options.split(",")):
            return where
    return None


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Receiver:
    """A receiver of InfluxDB lines that can be away."""

    def __init__(self):
        self.port, self.child = free_port(), None
        os.makedirs("got", exist_ok=True)
        self.base = 0

    def start(self):
        # The receiver numbers from 1 again: what came before is moved aside.
        for path in glob.glob("got/[0-9]*.body"):
            os.rename(path, f"got/old-{self.base:06}-{int(os.path.basename(path)[:-5]):08}.lines")
        self.base += 1
        self.child = subprocess.Popen([os.environ["SUPPORT"] + "/http-receiver", str(self.port), "got"],
                                      stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def stop(self):
        if self.child:
            self.child.terminate()
            self.child.wait()
            self.child = None

    def times(self):
        """Times in ns of the points of one series that have arrived."""
        found = []
        names = sorted(glob.glob("got/old-*.lines")) + sorted(glob.glob("got/[0-9]*.body"), key=lambda p: int(os.path.basename(p)[:-5]))
        for path in names:
            for line in open(path, encoding="utf-8", errors="replace"):
                if line.startswith("perf_context_switches") and "source=load" in line and 'cpu=0' in line:
                    found.append(int(line.split()[-1]))
        return found


def run_processes():
    for _ in range(PROCESSES):
        if stopping.is_set():
            return
        subprocess.run(["/bin/true"], check=True)


def run_cgroups(root):
    made = []
    try:
        for i in range(CGROUPS):
            path = f"{root}/tacho-soak-{os.getpid()}-{i}"
            os.mkdir(path)
            made.append(path)
        time.sleep(5)
    finally:
        for path in made:
            os.rmdir(path)


def run_slow_clients(port):
    clients = []
    for _ in range(SLOW_CLIENTS):
        s = socket.socket()
        s.settimeout(2)
        try:
            s.connect(("127.0.0.1", port))
            s.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n")
            clients.append(s)
        except OSError:
            s.close()
    for _ in range(3):
        time.sleep(2)
        for s in clients:
            try:
                s.sendall(b"X: y\r\n")
            except OSError:
                pass
    for s in clients:
        s.close()


def fill_disk(path):
    with open(path + "/ballast", "wb", buffering=0) as f:
        try:
            while True:
                f.write(bytes(65536))
        except OSError:
            pass
    time.sleep(10)
    os.unlink(path + "/ballast")


class Usage:
    """What the agent uses, read again and again; the slowest answer of /metrics."""

    def __init__(self, agent):
        self.agent, self.rows, self.slowest = agent, [], 0.0
        self.started, self.cpu_before = time.time(), 0

    def cpu_ticks(self):
        fields = open(f"/proc/{self.agent.child.pid}/stat", encoding="utf-8").read().rsplit(")", 1)[1].split()
        return int(fields[11]) + int(fields[12])

    def ask(self):
        before = time.monotonic()
        self.agent.get("/metrics", 60)
        self.slowest = max(self.slowest, time.monotonic() - before)

    def note(self):
        ticks = self.cpu_ticks()
        row = {"s": round(time.time() - self.started), "cpu_s": round(ticks / TICK, 2), "rss_kb": self.agent.resident_kb(),
               "fds": len(os.listdir(f"/proc/{self.agent.child.pid}/fd")),
               "threads": len(os.listdir(f"/proc/{self.agent.child.pid}/task")),
               "missed": self.agent.get("/api/v1/status")["missed_ticks"]}
        self.rows.append(row)
        print(json.dumps(row), flush=True)


def phases(agent, root, receiver, dice):
    """Endless: what happens at the same time as counting."""
    while not stopping.is_set():
        receiver.stop()
        todo = [run_processes, lambda: run_slow_clients(agent.port), lambda: fill_disk("disk")]
        if root:
            todo.append(lambda: run_cgroups(root))
        dice.shuffle(todo)
        for fn in todo:
            if stopping.is_set():
                break
            fn()
        receiver.start()
        stopping.wait(10)


def missing(times):
    """How many readings are missing between the first and the last, and the longest gap in seconds."""
    apart = [(b - a) / 1e9 for a, b in zip(times, times[1:])]
    return sum(round(s / INTERVAL) - 1 for s in apart if s > 1.5 * INTERVAL), max(apart, default=0)


def check_arrived(times, started_ns, killed_ns, ready_ns, missed):
    """missed: the ticks that the agent itself reports as missed, before and after the kill."""
    times = sorted(set(times))
    before, after = [t for t in times if t < killed_ns], [t for t in times if t >= killed_ns]
    check(before and after, "nothing arrived before or after the kill")
    lost, late = (killed_ns - before[-1]) / 1e9, (after[0] - ready_ns) / 1e9
    print(f"kill -9: {lost:.2f} s before it are lost, the first reading is {late:.2f} s after the restart", flush=True)
    check(before[0] - started_ns < 5e9, "the first seconds did not arrive")
    check(lost <= 1 + INTERVAL, "more than a second is lost by kill -9")
    for part, allowed, name in (before, missed[0], "before"), (after, missed[1], "after"):
        n, longest = missing(part)
        print(f"{name} the kill: {len(part)} readings, {n} missing, {allowed} missed by the agent, longest gap {longest:.2f} s", flush=True)
        check(n <= allowed + 2, f"{n} readings are missing, but the agent missed only {allowed}")


def run(agent, root, receiver, dice):
    started_ns = time.time_ns()
    usage = Usage(agent)
    receiver.start()
    worker = threading.Thread(target=phases, args=(agent, root, receiver, dice))
    worker.start()
    end, killed_ns, ready_ns, missed = time.time() + SECONDS, 0, 0, [0, 0]
    next_note = time.time() + SECONDS / 10
    while time.time() < end:
        time.sleep(1)
        if not killed_ns and time.time() > end - SECONDS / 2:
            missed[0] = agent.get("/api/v1/status")["missed_ticks"]
            killed_ns = time.time_ns()
            agent.stop(signal.SIGKILL)
            agent.start()
            ready_ns = time.time_ns()
        usage.ask()
        if time.time() > next_note:
            usage.note()
            next_note += SECONDS / 10
    stopping.set()
    worker.join()
    receiver.stop()
    receiver.start()
    last_ns = time.time_ns()
    wait_until(lambda: any(t > last_ns for t in receiver.times()), "what was queued", 120)
    usage.note()

    missed[1] = agent.get("/api/v1/status")["missed_ticks"]
    arrived = receiver.times()
    print(f"slowest /metrics {usage.slowest:.2f} s", flush=True)
    check_arrived(arrived, started_ns, killed_ns, ready_ns, missed)
    check(len(arrived) - len(set(arrived)) <= 4, "points came twice")
    quarters = [usage.rows[i * len(usage.rows) // 4:(i + 1) * len(usage.rows) // 4] for i in range(4)]
    early, late = quarters[0] + quarters[1], quarters[3]		# before the kill, and some time after it
    check(max(r["rss_kb"] for r in late) < 1.2 * max(r["rss_kb"] for r in early) + 10000, "its memory grows")
    check(usage.rows[-1]["fds"] < 3 * min(r["fds"] for r in early) + 100, "it keeps file descriptors")
    check(usage.slowest < 8, "/metrics was not answered in 8 s")
    store = agent.get("/api/v1/status")["store"]
    check(not store["error"], f"the store still fails: {store['error']}")
    agent.stop()


def main():
    root, receiver, dice = cgroup_root(), Receiver(), random.Random(7)
    more = f'''
[[source]]
name = "groups"
cgroups = ["/tacho-soak-*"]
events = ["context-switches"]
[[source]]
name = "processes"
process = "*"
events = ["page-faults"]
top = 20
[[export]]
type = "influxdb"
url = "http://127.0.0.1:{receiver.port}"
database = "d"
flush = "1s"
sources = ["load"]
[[export]]
type = "influxdb"
name = "dead"
url = "http://127.0.0.1:1"
database = "d"
flush = "1s"
'''
    agent = Agent(f'interval = "{INTERVAL * 1000:.0f}ms"\nper = "cpu"\nevents = ["context-switches", "page-faults"]\n' + more,
                  store="disk/agent.db").start()
    try:
        run(agent, root, receiver, dice)
    finally:
        stopping.set()
        receiver.stop()
        if agent.child.poll() is None:
            agent.child.kill()
            agent.child.wait()
    shutil.rmtree("got")


main()
