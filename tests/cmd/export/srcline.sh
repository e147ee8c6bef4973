# --srcline: the formats have the source lines of a program with debug information, those that perf and addr2line find;
# without it none. Functions are not split where lines are unknown.
. "$SUPPORT/lib.sh"
need cc python3 gzip
cat >w.c <<'C'
#define NI __attribute__((noinline))
volatile long x;
NI void leaf(long n) { for (long i = 0; i < n; i++) x += i; }
NI void mid(long n)
{
	for (long i = 0; i < n; i++) x += i;
	for (long i = 0; i < n; i++) x -= i;
}
int main(void)
{
	for (int i = 0; i < 1500; i++) {
		leaf(20000);
		mid(20000);
	}
}
C
cc -g -O0 -fno-omit-frame-pointer -o w w.c
tacho record -q -e cpu-clock:u -F 2000 -g ./w 2>err || skip "cannot record here: $(cat err)"
for format in folded pprof speedscope firefox chrome callgrind json d3; do
	tacho export -q -f $format -o plain.$format
	tacho export -q -f $format -o lines.$format --srcline
done
mv plain.pprof plain.pprof.gz; mv lines.pprof lines.pprof.gz; gzip -d plain.pprof.gz lines.pprof.gz
python3 - <<'P'
import json, re
def load(name): return json.load(open(name))
mid_lines = {6, 7}
# folded, d3: a frame per line
plain, lines = open("plain.folded").read(), open("lines.folded").read()
assert ".c:" not in plain, plain
assert {f"mid (w.c:{n})" in lines for n in mid_lines} == {True}, lines
total = lambda text: sum(int(l.rsplit(" ", 1)[1]) for l in text.splitlines())
assert total(plain) == total(lines)
assert "mid (w.c:6)" in open("lines.d3").read() and "w.c" not in open("plain.d3").read()
# speedscope
frames = load("lines.speedscope")["shared"]["frames"]
assert {f["line"] for f in frames if f["name"] == "mid"} == mid_lines, frames
assert all(f["file"].endswith("/w.c") for f in frames if f["name"] == "mid")
assert all("line" not in f for f in load("plain.speedscope")["shared"]["frames"])
names = [(f["name"], f["file"]) for f in frames if "line" not in f]
assert len(names) == len(set(names)), names		# not split
# firefox: one function, several lines
shared = load("lines.firefox")["shared"]
funcs, table, strings = shared["funcTable"], shared["frameTable"], shared["stringArray"]
mid = [i for i, s in enumerate(funcs["name"]) if strings[s] == "mid"]
assert len(mid) == 1, mid
assert {table["line"][i] for i, f in enumerate(table["func"]) if f == mid[0]} == mid_lines
assert strings[shared["sources"]["filename"][funcs["source"][mid[0]]]].endswith("/w.c")
assert all(len(funcs[k]) == funcs["length"] for k in funcs if k != "length")
assert load("plain.firefox")["shared"]["sources"]["length"] == 0
# chrome: lines from 0
def calls(name):
    for e in load(name)["traceEvents"]:
        for n in e.get("args", {}).get("data", {}).get("cpuProfile", {}).get("nodes", []):
            yield n["callFrame"]
assert {c["lineNumber"] + 1 for c in calls("lines.chrome") if c["functionName"] == "mid"} == mid_lines
assert all(c["lineNumber"] == -1 for c in calls("plain.chrome"))
# json
t = load("lines.json")["frames"]
rows = [dict(zip(t["columns"], r)) for r in t["rows"]]
assert {r["line"] for r in rows if r["name"] == "mid"} == mid_lines, rows
# callgrind: main calls at its lines (those that it returns to, as in perf), and mid costs at its own
text = open("lines.callgrind").read()
assert re.search(r"^(fl|cfi)=\(\d+\) .*/w\.c$", text, re.M), text
def function(name): return re.search(rf"^c?fn=\((\d+)\) {name}$", text, re.M).group(1)
def blocks(name): return [b for b in re.split(r"^(?=ob=)", text, flags=re.M) if re.search(rf"^fn=\({function(name)}\)", b, re.M)]
assert {int(n) for b in blocks("main") for n in re.findall(r"^calls=\d+ \d+\n(\d+) ", b, re.M)} <= {11, 12, 13}, text
assert {int(n) for b in blocks("mid") for n in re.findall(r"^(\d+) \d+ \d+$", b, re.M)} == mid_lines, text
assert not re.search(r"^fl=", open("plain.callgrind").read().split("\n\n", 1)[1], re.M)
# pprof: message fields
def fields(data):
    i = 0
    def varint():
        nonlocal i
        v = s = 0
        while True:
            b = data[i]; i += 1
            v |= (b & 127) << s; s += 7
            if b < 128: return v
    while i < len(data):
        key = varint()
        if key & 7 == 0:
            yield key >> 3, varint()
        else:
            n = varint(); yield key >> 3, data[i:i + n]; i += n
def pprof(name):
    strings, functions, locations = [], {}, []
    for f, v in fields(open(name, "rb").read()):
        if f == 6: strings.append(v.decode())
        elif f == 5:
            d = dict(fields(v)); functions[d[1]] = d
        elif f == 4:
            locations.append(dict(fields(dict(fields(v))[4])))
    return {(strings[functions[l[1]][2]], strings[functions[l[1]].get(4, 0)], l.get(2, 0)) for l in locations}
found = pprof("lines.pprof")
assert {n for name, file, n in found if name == "mid" and file.endswith("/w.c")} == mid_lines, found
assert all(n == 0 and file == "" for _, file, n in pprof("plain.pprof"))
P
