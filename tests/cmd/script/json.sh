# --json is an object per sample, with what the text has.
# run: alone
. "$SUPPORT/lib.sh"
need perf python3
perf record -q -e cpu-clock -F 1999 -g -o a.data -- ls -R /usr/share/doc >/dev/null 2>&1 ||
	skip "perf cannot record here"
tacho script -i a.data >text
tacho script --json -i a.data >lines
python3 - <<'PY'
import json
samples = [json.loads(line) for line in open("lines")]
heads = [line for line in open("text") if line.strip() and not line.startswith("\t")]
frames = [line for line in open("text") if line.startswith("\t")]
assert len(samples) == len(heads) > 0, (len(samples), len(heads))
assert sum(len(s["callchain"]) for s in samples) == len(frames)
for sample, head in zip(samples, heads):
    assert sample["type"] == "sample" and sample["event"] + ":" in head
    assert head.startswith(sample["comm"]) and f" {sample['tid']} " in head
    assert f"{sample['time_ns'] // 1000 / 1e6:.6f}:" in head
for frame, line in zip((f for s in samples for f in s["callchain"]), frames):
    assert int(frame["ip"], 16) == int(line.split()[0], 16)
    where = "(inlined)" if frame.get("inlined") else frame.get("object", "[unknown]")
    assert frame.get("symbol", "[unknown]") in line and where in line
PY
