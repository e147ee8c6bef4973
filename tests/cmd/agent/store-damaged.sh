# Pages of the store are overwritten: the next agent recovers the rest and reports it. /healthz shows exports and
# stores that do not work.
. "$SUPPORT/lib.sh"
need python3
tacho stat -a -x, -e context-switches sleep 0.01 2>err || skip "may not count CPUs: $(cat err)"
PYTHONPATH=$SUPPORT python3 - <<'END'
import urllib.error
from agent_test import *

EVENTS = ", ".join(f'{{ event = "page-faults", name = "e{i}" }}' for i in range(300))
agent = Agent(f'interval = "20ms"\nper = "cpu"\nevents = [{EVENTS}]').start()

def health(more=""):
    try:
        return 200, agent.get("/healthz" + more)
    except urllib.error.HTTPError as e:
        return e.code, e.read().decode()

def stored():
    found = agent.get("/api/v1/query?from=-1h&step=1h&func=increase&label=source=load")["series"]
    return {(s["event"], s["labels"]["cpu"]) for s in found}

check(health() == (200, "ok\n"), f"a new agent: {health()}")
time.sleep(2)
agent.ctl("read-now")
before = stored()
check(len(before) >= 300, f"only {len(before)} series are stored")
agent.stop()
with open(agent.store, "r+b") as f:
    pages = os.path.getsize(agent.store) // 4096
    for page in range(pages // 2, pages, 8):
        f.seek(page * 4096)
        f.write(b"\xa5" * 4096)

agent.start()
wait_until(lambda: agent.get("/api/v1/status")["store"]["salvages"], "the damage to be found")
store = agent.get("/api/v1/status")["store"]
check("were recovered" in store["salvaged"] and store["error"] is None, f"status: {store}")
check("the store was damaged" in agent.text(), "the log says nothing")
check(os.path.getsize(agent.store + ".damaged") >= pages * 4096, "the damaged file is not kept")
wait_until(lambda: agent.metric("tacho_store_salvages_total") == 1, "the metric")
check(health() == (200, "ok\n"), f"with a new store: {health()}")
wait_until(lambda: any(e["kind"] == "store" for e in agent.get("/api/v1/triggers")["events"]), "the event")
check(len(stored() & before) > len(before) * 3 // 4, f"{len(stored() & before)} of {len(before)} series are left")
agent.stop()

agent.configure('interval = "50ms"\nevents = ["page-faults"]\n[[export]]\ntype = "influxdb"\nname = "nobody"\n'
                'url = "http://127.0.0.1:9/"\ndatabase = "x"')
agent.start()
status, text = wait_until(lambda: (h := health())[0] == 503 and h, "an export without a receiver")
check(text.startswith("export nobody: ") and text.count("\n") == 1, f"healthz: {text}")
check(health("?live=1") == (200, "ok\n"), f"alive: {health('?live=1')}")
agent.stop()
END
