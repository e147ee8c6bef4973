# The JSON formats are valid JSON, their ids are within their tables, and no sample is missing.
. "$SUPPORT/lib.sh"
. "$SUPPORT/flame.sh"
need python3 cc
record_sample perf.data
total=$(tacho export -f folded | awk '{ n += $NF } END { print n }')
for format in json speedscope firefox chrome; do
	tacho export -f $format -o $format
done
tacho export -f d3 --weight samples -o d3
python3 - "$total" <<'END'
import json, sys
total = int(sys.argv[1])
def load(name):
    with open(name, encoding="utf-8") as f:
        return json.load(f)
p = load("json")
assert p["schema"] == "tacho.profile/1"
stacks, frames = p["stacks"]["rows"], p["frames"]["rows"]
assert stacks[0] == [None, None]
assert all(s[0] < i and s[1] < len(frames) for i, s in enumerate(stacks) if i)
assert all(f[1] < len(p["objects"]) for f in frames)
assert sum(r[3] for r in p["samples"]["rows"]) == total
d = load("d3")
assert d["name"] == "all" and d["value"] == total
def check(node, depth=0):
    children = node.get("children", [])
    assert sum(c["value"] for c in children) <= node["value"]
    return max([check(c, depth + 1) for c in children], default=depth)
assert check(d) > 2
s = load("speedscope")
n = len(s["shared"]["frames"])
for one in s["profiles"]:
    assert len(one["samples"]) == len(one["weights"])
    assert sum(one["weights"]) == one["endValue"]
    assert all(0 <= f < n for stack in one["samples"] for f in stack)
f = load("firefox")
shared = f["shared"]
n = shared["stackTable"]["length"]
for table in ("stackTable", "frameTable", "funcTable", "resourceTable"):
    t = shared[table]
    assert all(len(v) == t["length"] for k, v in t.items() if k != "length"), table
assert all(0 <= o <= i for i, o in enumerate(shared["stackTable"]["prefixOffset"]))
assert sum(sum(t["samples"]["weight"]) for t in f["threads"]) == total
for t in f["threads"]:
    assert t["samples"]["time"] == sorted(t["samples"]["time"])
    assert all(s is None or s < n for s in t["samples"]["stack"])
c = load("chrome")["traceEvents"]
chunks = [e["args"]["data"] for e in c if e["name"] == "ProfileChunk"]
assert sum(len(d["cpuProfile"]["samples"]) for d in chunks) == total
assert all(len(d["cpuProfile"]["samples"]) == len(d["timeDeltas"]) for d in chunks)
END
