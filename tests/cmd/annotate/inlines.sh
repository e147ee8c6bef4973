# Inlined functions are named before their instructions; the positions of the calls are those of objdump --inlines.
. "$SUPPORT/lib.sh"
need cc objdump python3
tacho version --build-options | grep -q 'libdw.*on ' || skip "built without libdw"
cat >w.c <<'C'
#define NI __attribute__((noinline))
#define AI static inline __attribute__((always_inline))
volatile long x;
AI void inner(long n) { for (long i = 0; i < n; i++) x += i; }
AI void middle(long n)
{
	if (n & 1)
		inner(n + 1);
	else
		inner(n);
}
NI void leaf(long n)
{
	x--;
	middle(n);
	x++;
	inner(7);
}
int main(void) { for (int i = 0; i < 3000; i++) leaf(30000 + i % 2); }
C
cc -g -O2 -o w w.c
tacho record -q -e cpu-clock:u -F 2000 -o data ./w 2>err || skip "cannot record here: $(cat err)"
tacho annotate -i data --json leaf >json
objdump -dl --inlines --disassemble=leaf w >objdump.txt || skip "objdump knows no inlined functions"
python3 - <<'P'
import json, re
wanted, calls = {}, []
for line in open("objdump.txt"):
    if found := re.match(r"inlined by (.*):(\d+)(?: \(discriminator \d+\))? \((.*)\)", line):
        calls.append((found[1].rsplit("/", 1)[-1], int(found[2])))
    elif found := re.match(r" +([0-9a-f]+):\t.*\t", line):
        wanted[found[1]] = calls
        calls = []
    elif re.match(r"\S+\(\):|/", line):
        calls = []
lines = json.load(open("json"))["functions"][0]["lines"]
got = {line["address"]: [(f["file"].rsplit("/", 1)[-1], f["line"]) for f in line["inlined"]] for line in lines}
assert sum(map(bool, got.values())) > 5, got
differ = {at: (got[at], wanted.get(at)) for at in got if got[at] != wanted.get(at)}
assert not differ, differ
names = {tuple(f["symbol"] for f in line["inlined"]) for line in lines}
assert {("inner",), ("inner", "middle")} <= names <= {(), ("middle",), ("inner",), ("inner", "middle")}, names
P
tacho annotate -i data --stdio leaf >text
grep -A 2 '^ *: inner():$' text | tr -d '\n' | grep -q ': inner(): *: inlined by w.c:[0-9]* (middle) *: inlined by w.c:15 (leaf)' ||
	fail "$(cat text)"
grep -q '^ *: leaf():$' text || fail "the end of inlined code is not marked: $(cat text)"
tacho annotate -i data --stdio -P leaf | grep -q "inlined by $PWD/w.c:15 (leaf)" || fail "-P"
! tacho annotate -i data --stdio --no-inline leaf | grep -q 'inlined by' || fail "--no-inline"
! tacho annotate -i data --stdio --no-source leaf | grep -q 'inlined by' || fail "--no-source"
