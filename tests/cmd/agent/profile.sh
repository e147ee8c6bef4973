# The continuous profile: the busy function is found, pages agree with each other, ranges and filters select
# their part, a killed agent keeps its windows.
# run: slow
. "$SUPPORT/lib.sh"
need python3
PYTHONPATH=$SUPPORT python3 - <<'END'
from agent_profile import *

agent = Agent('[profile]\nfrequency = 97\nwindow = "1s"\nevent = "cpu-clock"\n')
agent.start()
agent.needs_profile()

def flame(**args):
    return agent.get("/api/v1/flame", **args)

before = now_ms()
time.sleep(1.5)
started = now_ms()
burn(2000).wait()
ended = now_ms()
agent.settle(ended)

# The busy function, and the shape of the flame graph.
f = flame(**{"from": started, "to": ended, "min": 0})
check(f["schema"] == "tacho.flame.v1" and f["event"] == "cpu-clock" and f["unit"] == "samples", f"head: {str(f)[:200]}")
check(f["base_total"] is None, "a base that was not asked for")
all_boxes = boxes(f)
check(all_boxes[0][:4] == (0, 0, f["total"], "all"), f"the root: {all_boxes[0]}")
check(sum(b[4] for b in all_boxes) == f["total"], "selfs do not add up to the total")
def burnt_in(f):
    return sum(b[4] for b in boxes(f) if b[3] == "burn")

only = flame(**{"from": started, "to": ended, "comm": BURNER, "min": 0})
burnt = burnt_in(only)
check(burnt > 60, f"burn has {burnt} of {f['total']} samples")
levels = [[b for b in all_boxes if b[0] == d] for d in range(len(f["levels"]))]
for upper, lower in zip(levels, levels[1:]):
    for b in lower:
        above = [u for u in upper if u[1] <= b[1] and b[1] + b[2] <= u[1] + u[2]]
        check(len(above) == 1, f"nothing is below {b}")
    check(all(a[1] + a[2] <= b[1] for a, b in zip(lower, lower[1:])), "boxes overlap")
check(len(f["kinds"]) == len(f["names"]) and set(f["kinds"]) <= {0, 1, 2, 3, 4, 5}, "kinds")
check(1 in [k for n, k in zip(f["names"], f["kinds"]) if n == "burn"], "burn is no function of a program")
few = flame(**{"from": started, "to": ended, "min": 0.3})
check(all(b[2] >= 0.3 * few["total"] for b in boxes(few)), "a box narrower than asked for")
check(set(few["names"]) == {b[3] for b in boxes(few)} and few["names"][0] == "all", "names that are not shown")

# The heat map counts the same samples; so do the folded stacks.
heat = agent.get("/api/v1/heatmap", **{"from": started, "to": ended})
check(heat["rows"] == 50 and all(len(c[1]) == 50 for c in heat["columns"]), "rows")
check(sum(sum(c[1]) for c in heat["columns"]) == f["total"],
      f"the heat map has {sum(sum(c[1]) for c in heat['columns'])} samples, the flame graph {f['total']}")
check(heat["max"] == max(max(c[1]) for c in heat["columns"]), "max")
wide = agent.get("/api/v1/heatmap", **{"from": started, "to": ended, "rows": 10})
check(wide["rows"] == 10 and [c[1] for c in wide["columns"]] ==
      [[sum(c[1][k * 5:k * 5 + 5]) for k in range(10)] for c in heat["columns"]], "rows of 100 ms")
for rows in "0", "7", "100", "x":
    check(agent.refused("/api/v1/heatmap?rows=" + rows)[0] == 400, f"rows={rows}")
check(all(c[0] % 1000 == 0 and started - 1000 < c[0] < ended for c in heat["columns"]), "columns")
folded = agent.get("/api/v1/flame", text=True, **{"from": started, "to": ended, "format": "folded"})
check(sum(int(l.rsplit(" ", 1)[1]) for l in folded.splitlines()) == f["total"], "folded stacks differ")
check(any(l.startswith(BURNER + ";") and ";burn " in l for l in folded.splitlines()), "no BURNER;...;burn")

# Filters by time, command, process and CPU; the parts of a range sum up to the whole.
middle = (started + ended) // 2
parts = [flame(**{"from": a, "to": b})["total"] for a, b in ((started, middle), (middle, ended))]
check(sum(parts) == f["total"], f"{parts} do not make {f['total']}")
check({b[3] for b in boxes(only) if b[0] == 1} == {BURNER}, "another command")
check(burnt <= only["total"] < f["total"] + 1, "the command's total")
cpus = os.sched_getaffinity(0)
per_cpu = [flame(**{"from": started, "to": ended, "cpu": c})["total"] for c in range(max(cpus) + 1)]
check(sum(per_cpu) == f["total"], f"CPUs: {per_cpu}")
check(flame(**{"from": started, "to": ended, "pid": 1 << 22})["total"] == 0, "a process that is none")

# Two ranges compared.
d = flame(**{"from": started, "to": ended, "base_from": before, "base_to": started, "min": 0})
check(d["total"] == f["total"] and boxes(d)[0][5] == d["base_total"], "base total")
b = [x for x in boxes(d) if x[3] == BURNER and x[0] == 1][0]
check(b[2] > 0 and b[5] == 0, f"burn before it ran: {b}")
for name, start, kind in (("svg", "<?xml", "image/svg+xml"), ("html", "<!", "text/html"), ("json", "{", "application/json"),
                          ("speedscope", "{", "application/json")):
    with agent.open(f"/api/v1/flame?from={started}&to={ended}&format={name}") as r:
        check(r.headers["Content-Type"].startswith(kind), name + ": " + r.headers["Content-Type"])
        check("attachment; filename=\"tacho-" in r.headers["Content-Disposition"], name + ": no file name")
        text = r.read().decode()
        check(text.startswith(start) and "burn" in text, name + ": " + text[:60])
svg = agent.get("/api/v1/flame", text=True, **{"from": started, "to": ended, "base_from": before,
                                               "base_to": started, "format": "svg"})
check("</svg>" in svg and "burn" in svg, "the diff")

# Windows: consecutive, with all samples.
w = agent.get("/api/v1/profiles", **{"from": before, "to": now_ms()})["windows"]
check(len(w) >= 3 and all(a["to"] <= b["from"] for a, b in zip(w, w[1:])), f"windows: {w}")
st = agent.get("/api/v1/status")["profiler"]
check(st["samples"] >= sum(x["samples"] for x in w[:-1]) and st["windows"] >= len(w) - 2, f"{st}")

# Invalid requests.
for path, status in (("flame?from=5&to=4", 400), ("flame?from=0&to=9999999999999", 400), ("flame?min=2", 400),
                     ("flame?from=x", 400), ("flame?format=gif", 400), ("flame?pid=abc", 400), ("flame?cpu=9-1", 400),
                     ("heatmap?from=-7h&to=now", 400), ("profiles?from=-40d", 400),
                     ("flame?from=1000&to=2000&format=pprof", 404), ("flame?base_from=9&base_to=8", 400)):
    got, why = agent.refused("/api/v1/" + path)
    check(got == status and len(why) > 10, f"{path}: {got} {why}")
check(flame(**{"from": 1000, "to": 2000})["total"] == 0, "samples of 1970")

# After kill -9: stored windows are there, and the next agent adds to them.
agent.until(30, lambda: [w for w in agent.get("/api/v1/profiles", **{"from": started, "to": now_ms()})["windows"]
                        if w["from"] >= ended], "a window after that of the last samples")
check(agent.ctl("read-now")[0] == 0, "read-now")	# all that the store has taken is on disk
agent.stop(signal.SIGKILL)
agent.start()
after = flame(**{"from": started, "to": ended, "min": 0})
check(after["total"] == f["total"], f"{after['total']} of {f['total']} samples after a kill")
again = flame(**{"from": started, "to": ended, "comm": BURNER, "min": 0})
check(burnt_in(again) == burnt, "burn after a kill")
agent.until(10, lambda: flame(**{"from": now_ms() - 1000, "to": now_ms()})["total"] > 0, "new samples")
agent.stop()
END
