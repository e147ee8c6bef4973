# The text output of ctl, and the same as JSON.
. "$SUPPORT/lib.sh"
need python3
PYTHONPATH=$SUPPORT python3 - <<'END'
from agent_test import *

with open("/proc/self/comm", "w") as f:
    f.write("a\033[2J\nb")
agent = Agent(f'events = ["page-faults", "cylces"]\npids = [{os.getpid()}]\ninterval = "100ms"').start()
wait_until(lambda: [s for s in agent.get("/api/v1/series?source=load")["series"] if s["value"] is not None], "values")
for word in "status", "events", "series", "exporters":
    status, said = agent.ctl(word)
    check(status == 0, said)
    said = re.sub(r'(container|pod|service)="[^"]*",', "", said)	# where the test runs
    lines = [re.sub(r"\d[\d.:/-]*", "N", l) for l in said.strip().split("\n")]
    print("\n".join(l for l in lines if word != "series" or l.startswith("page-faults{")))
    done = subprocess.run([TACHO, "agent", "-c", agent.config, "--json", "ctl", word], capture_output=True, text=True)
    check(json.loads(done.stdout)["schema"] == f"tacho.{word}.v1", done.stdout)
agent.stop()
watched = subprocess.Popen([TACHO, "agent", "-c", agent.config, "watch", str(os.getpid())], stderr=subprocess.PIPE)

def is_watching():
    with open(f"/proc/{watched.pid}/status", encoding="utf-8") as f:
        blocked = int(re.search(r"SigBlk:\s*(\w+)", f.read()).group(1), 16)
    return counters_of(watched.pid) and blocked & 1 << signal.SIGINT - 1

wait_until(is_watching, "counters of watch")
watched.send_signal(signal.SIGINT)
print([l for l in watched.communicate()[1].decode().split("\n") if "page-faults" in l][0].split()[-1])
END
