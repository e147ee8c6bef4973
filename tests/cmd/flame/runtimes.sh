# Frames of Python, JavaScript and Java have their names, whole stacks and the colours of their language. The maps are as
# Python 3.12, Node 20 and Java 17 write them.
. "$SUPPORT/lib.sh"
need cc
cc -O1 -fomit-frame-pointer -o jitmap "$SUPPORT/jitmap.c" 2>err || skip "no JIT for this machine: $(head -n 1 err)"
tacho flame -F 1999 -e cpu-clock:u --data file -o out.json -- ./jitmap 200 'py::<module>:/app/main.py' 'py::work:/app/main.py' \
	'py::inner loop:/app/my module.py' - >path 2>err || skip "cannot record here: $(cat err)"
tacho export -f folded -i file -o folded 2>err || fail "$(cat err)"
grep -q 'main;py::<module>:/app/main.py;.*py::work:/app/main.py;.*py::inner loop:/app/my module.py;.*work ' folded ||
	fail "not the whole Python stack: $(cat folded)"
rm -f "$(cat path)"

tacho record -q --call-graph auto -F 1999 -e cpu-clock:u -o file -- ./jitmap 60 'JS:*go /srv/app.js:10:3' \
	'LazyCompile:~tick node:internal/timers:1:2' 'double org.example.Sum.of(double)' 'Lorg/example/Sum;::of' 'py::work:/app/main.py' \
	'RegisterStub' >path
tacho flame -i file -o out.svg -q
tacho export -i file -f json -o out.json -q
rm -f "$(cat path)"
python3 - <<'END' || fail "wrong kinds"
import json
kinds = {}
for row in json.load(open("out.json"))["frames"]["rows"]:
    kinds[row[0]] = row[3]
want = {"JS:*go /srv/app.js:10:3": "JavaScript", "LazyCompile:~tick node:internal/timers:1:2": "JavaScript",
        "double org.example.Sum.of(double)": "Java", "Lorg/example/Sum;::of": "Java", "py::work:/app/main.py": "Python",
        "RegisterStub": "JIT"}
for name, kind in want.items():
    assert kinds.get(name) == kind, (name, kinds)
END
