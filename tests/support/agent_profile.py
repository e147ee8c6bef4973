"""An agent of a test's own, for the tests of its profile: nothing is shared with other agents."""
import json
import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.parse
import urllib.request

from agent_test import counters_of

OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}))


def check(ok, what):
    if not ok:
        print(what, file=sys.stderr)
        sys.exit(1)


def skip(why):
    print(why)
    sys.exit(77)


def free_port():
    return int(subprocess.run([os.environ["SUPPORT"] + "/free-port"], capture_output=True, check=True).stdout)


class Agent:
    def __init__(self, config):
        self.port = free_port()
        self.process = None
        os.makedirs("state", exist_ok=True)
        self.write(config)

    def write(self, config):
        with open("tacho.toml", "w", encoding="utf-8") as f:
            f.write(f'[agent]\nlisten = ["127.0.0.1:{self.port}"]\nstore = "{os.getcwd()}/state/db"\n'
                    f'socket = "{os.getcwd()}/ctl"\n{config}')

    def start(self):
        env = dict(os.environ, STATE_DIRECTORY=os.getcwd() + "/state", RUNTIME_DIRECTORY=os.getcwd() + "/state")
        with open("agent.log", "ab") as log:
            self.process = subprocess.Popen(["tacho", "agent", "-c", "tacho.toml"], stdout=log, stderr=log,
                                            stdin=subprocess.DEVNULL, env=env)
        self.until(20, lambda: self.get("/healthz", text=True) == "ok\n", "the agent to start")

    def stop(self, how=signal.SIGTERM):
        if self.process:
            self.process.send_signal(how)
            self.process.wait(30)
            self.process = None

    def counters(self):
        return counters_of(self.process.pid)

    def log(self):
        with open("agent.log", encoding="utf-8") as f:
            return f.read()

    def until(self, seconds, fn, what):
        """What fn returns, once that is true."""
        end = time.monotonic() + seconds
        while True:
            try:
                got = fn()
                if got:
                    return got
            except OSError:
                pass
            if time.monotonic() > end:
                print("waited in vain for", what, "\n" + self.log(), file=sys.stderr)
                sys.exit(1)
            time.sleep(0.1)

    def open(self, path, timeout=30):
        return OPENER.open(urllib.request.Request(f"http://127.0.0.1:{self.port}{path}", headers=self.credentials()),
                           timeout=timeout)

    def credentials(self):
        """The header that permits reading over TCP."""
        try:
            with open("state/token", encoding="utf-8") as f:
                return {"Authorization": "Bearer " + f.read().strip()}
        except FileNotFoundError:
            return {}

    def get(self, path, text=False, **args):
        if args:
            path += "?" + urllib.parse.urlencode(args)
        with self.open(path) as r:
            body = r.read().decode()
        return body if text else json.loads(body)

    def refused(self, path):
        """Status and sentence of a request that fails."""
        try:
            self.open(path).close()
        except urllib.error.HTTPError as e:
            return e.code, json.loads(e.read())["error"]
        return 200, ""

    def ctl(self, *words):
        r = subprocess.run(["tacho", "agent", "-c", "tacho.toml", "ctl", *words], capture_output=True, text=True,
                           timeout=60)
        return r.returncode, r.stdout + r.stderr

    def settle(self, until_ms):
        """Waits until all samples before that time have been drained. Later ones tell, but rings are drained one
        after the other: those of a round that began later."""
        for since in until_ms, None:
            since = since or now_ms()
            self.until(30, lambda: self.get("/api/v1/flame", **{"from": since, "to": now_ms() + 1})["total"],
                       "later samples")

    def needs_profile(self):
        st = self.get("/api/v1/status")["profiler"]
        if not st or not st["running"]:
            self.stop()
            skip("cannot sample the machine: " + self.log())


BURNER = f"burn{os.getpid()}"		# a name that other tests' programs do not have


def burn(ms):
    if not os.path.lexists(BURNER):
        os.symlink(os.environ["TEST_BIN"] + "/burn", BURNER)
    return subprocess.Popen(["./" + BURNER, "-t", "1", "-m", str(ms)], stdout=subprocess.DEVNULL)


def now_ms():
    return int(time.time() * 1000)


def boxes(flame):
    """[(level, left, width, name, self, base or None)]"""
    step = 4 if flame["base_total"] is None else 5
    out = []
    for depth, level in enumerate(flame["levels"]):
        check(len(level) % step == 0, "a level of odd length")
        for i in range(0, len(level), step):
            out.append((depth, level[i], level[i + 1], flame["names"][level[i + 2]], level[i + 3],
                        level[i + 4] if step == 5 else None))
    return out
