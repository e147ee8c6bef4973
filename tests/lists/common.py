"""What the tests of event lists share: running `tacho events check`, and the trees."""
import json
import os
import subprocess
import sys
import tempfile

import trees


class Lists:
    def __init__(self, tacho):
        self.tacho = os.path.abspath(tacho)
        self.home = tempfile.TemporaryDirectory(prefix="tacho-lists-")
        self.env = dict(os.environ, XDG_CACHE_HOME=os.path.join(self.home.name, "cache"),
                        XDG_DATA_HOME=os.path.join(self.home.name, "data"))
        self.env.pop("EVENTMAP", None)

    def tree(self, cpu):
        top = os.path.join(self.home.name, cpu)
        return top if os.path.isdir(top) else trees.make(top, cpu)

    def run(self, *args):
        return subprocess.run([self.tacho, *args], env=self.env, capture_output=True, text=True,
                              check=False, timeout=60)

    def check(self, cpu, *files):
        """The answer of `events check`: a list of events."""
        got = self.run("events", "check", "--json", "--sysfs", self.tree(cpu), *files)
        if got.returncode:
            sys.exit(f"events check {' '.join(files)}: {got.stderr}")
        answer = json.loads(got.stdout)
        events = answer["events"]
        assert answer["schema"] == "tacho.events-check.v1", answer["schema"]
        assert answer["resolved"] == sum(e["terms"] is not None for e in events)
        assert answer["refused"] == sum(e["reason"] is not None for e in events)
        assert answer["resolved"] + answer["refused"] == len(events)
        return events
