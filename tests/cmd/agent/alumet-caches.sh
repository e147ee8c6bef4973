# All 42 cache events that Alumet accepts are known: one that no CPU or not this CPU has is not supported.
. "$SUPPORT/lib.sh"
need python3
python3 - >alumet.toml <<'END'
names = [f"{cache}_{op}_{result}" for cache in ("L1D", "L1I", "LL", "DTLB", "ITLB", "BPU", "NODE")
         for op in ("READ", "WRITE", "PREFETCH") for result in ("ACCESS", "MISS")]
assert len(names) == 42
print("[plugins.perf]\nhardware_events = []\nsoftware_events = []\ncache_events = [")
print(",\n".join(f'"{name}"' for name in names) + "]")
END
tacho agent --check --json -c alumet.toml >checked || { cat checked; fail "the file is refused"; }
python3 - <<'END'
import json
events = [e for s in json.load(open("checked"))["sources"] for e in s["events"]]
assert len(events) == 42, len(events)
for e in events:
    assert e["state"] in ("counting", "not counted", "not supported", "not permitted"), e
    assert "knows this name" not in (e.get("why") or e.get("reason") or ""), e
END
