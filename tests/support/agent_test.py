"""An agent under test, for the python in tests/cmd/agent/*.sh (PYTHONPATH=$SUPPORT).

    agent = Agent('interval = "20ms"\\nevents = ["context-switches"]')
    agent.start() ... agent.get("/api/v1/status") ... agent.stop()

Its files are in the current directory; its port is a free one; what it says is in agent.said.
"""
import json
import os
import re
import signal
import subprocess
import sys
import time
import urllib.request

TACHO = os.environ["TACHO"]


def fail(text):
    sys.exit("FAILED: " + text)


def check(is_so, text):
    if not is_so:
        fail(text)


def wait_until(fn, text, seconds=30):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        got = fn()
        if got:
            return got
        time.sleep(0.02)
    return fail("waited in vain: " + text)


def counters_of(pid):
    """How many counters the process has open."""
    found = 0
    for fd in os.listdir(f"/proc/{pid}/fd"):
        try:
            found += "perf_event" in os.readlink(f"/proc/{pid}/fd/{fd}")
        except FileNotFoundError:		# closed meanwhile
            pass
    return found


class Agent:
    def __init__(self, source, store="agent.db", more=""):
        self.child = None
        self.port = 0
        self.config = os.path.abspath("tacho.toml")
        self.socket = os.path.abspath("ctl.sock")
        self.said = os.path.abspath("agent.said")
        self.store = os.path.abspath(store) if store else ""
        self.more = more
        self.configure(source)

    def configure(self, source):
        """Writes the file; [[source]] 'load' has these lines."""
        with open(self.config, "w", encoding="utf-8") as f:
            f.write(f'[agent]\nlisten = ["127.0.0.1:0"]\nsocket = "{self.socket}"\n'
                    f'store = "{self.store}"\n{self.more}\n[profile]\nenabled = false\n'
                    f'[[source]]\nname = "load"\n{source}\n')

    def start(self):
        with open(self.said, "w", encoding="utf-8") as said:
            env = dict(os.environ, STATE_DIRECTORY=os.path.abspath("state"))
            self.child = subprocess.Popen([TACHO, "agent", "-c", self.config], env=env,
                                          stdin=subprocess.DEVNULL, stdout=said, stderr=said)
        found = wait_until(self.find_page, "the agent's page")
        self.port = int(found.group(1))
        return self

    def find_page(self):
        if self.child.poll() is not None:
            fail(f"the agent ended with {self.child.returncode}: {self.text()}")
        return re.search(r"page at http://127\.0\.0\.1:(\d+)/", self.text())

    def text(self):
        with open(self.said, encoding="utf-8", errors="replace") as f:
            return f.read()

    def stop(self, how=signal.SIGTERM):
        self.child.send_signal(how)
        status = self.child.wait(30)
        if how == signal.SIGTERM:
            check(status == 0, f"the agent ended with {status}: {self.text()}")

    def credentials(self):
        """The header that permits reading over TCP."""
        with open("state/token", encoding="utf-8") as f:
            return {"Authorization": "Bearer " + f.read().strip()}

    def get(self, path, timeout=20):
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}{path}", headers=self.credentials())
        with urllib.request.urlopen(request, timeout=timeout) as answer:
            body = answer.read()
            is_json = answer.headers["Content-Type"].startswith("application/json")
        return json.loads(body) if is_json else body.decode()

    def ctl(self, *words):
        done = subprocess.run([TACHO, "agent", "-c", self.config, "ctl", *words],
                              capture_output=True, text=True, timeout=60)
        return done.returncode, done.stdout + done.stderr

    def metric(self, name):
        found = re.search(rf"^{re.escape(name)}(?:{{[^}}]*}})? (\S+)$", self.get("/metrics"), re.M)
        return float(found.group(1)) if found else None

    def counters(self):
        return counters_of(self.child.pid)

    def resident_kb(self):
        with open(f"/proc/{self.child.pid}/status", encoding="utf-8") as f:
            return int(re.search(r"VmRSS:\s+(\d+)", f.read()).group(1))
