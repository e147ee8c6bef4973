# Inlined functions: script prints them as perf 7 does, with --no-inline they are missing; report, flame graphs and exports
# have them too, and a sample counts for the function that it is inlined into.
. "$SUPPORT/lib.sh"
need cc jq
tacho version --build-options | grep -q 'libdw.*on ' || skip "built without libdw"
cat >w.c <<'C'
#define NI __attribute__((noinline))
#define AI static inline __attribute__((always_inline))
volatile long x;
AI void inner(long n) { for (long i = 0; i < n; i++) x += i; }
AI void middle(long n) { inner(n); }
NI void leaf(long n) { middle(n); }
AI void call_leaf(long n) { leaf(n); }
NI void work(long n) { call_leaf(n); x++; }
int main(void) { for (int i = 0; i < 3000; i++) { work(30000); x--; } }
C
cc -g -O2 -fno-optimize-sibling-calls -o w w.c
tacho record -q -e cpu-clock:u -F 2000 --call-graph dwarf -o g.data ./w 2>err || skip "cannot record here: $(cat err)"

# What one stack is in the program, and in the text.
tacho script -i g.data -F ip,sym,dso | awk -v RS= '/ work / && / inner / { print; exit }' | sed 's/^\t *[0-9a-f]* //' >got
cat >want <<E2
inner (inlined)
middle (inlined)
leaf ($PWD/w)
call_leaf (inlined)
work ($PWD/w)
main ($PWD/w)
E2
head -6 got | diff want - || fail "script"
tacho script -i g.data | grep -q '^	 *[0-9a-f]\{6,16\} inner+0x[0-9a-f]* (inlined)$' || fail "the line of an inlined frame"
tacho script -i g.data -F ip,sym,symoff,dso,srcline | awk -v RS= '/ work\+/ && / inner\+/ { print; exit }' |
	sed -e 's/^\t *[0-9a-f]* //' -e 's/+0x[0-9a-f]*//' -e "s,$PWD/,," >got
cat >want <<'E2'
inner
  w.c:4 (inlined)
middle
  w.c:5 (inlined)
leaf (w)
  w.c:6
call_leaf
  w.c:7 (inlined)
work (w)
  w.c:8
main (w)
  w.c:9
E2
head -12 got | diff want - || fail "script -F +srcline"
[ "$(tacho script --no-inline -i g.data | grep -c inlined)" = 0 ] || fail "script --no-inline"
tacho script --no-inline --inline -i g.data | grep -q inlined || fail "script --inline"
# The addresses are the same with and without them.
tacho script -i g.data | grep -v '(inlined)$' >without
tacho script --no-inline -i g.data | diff without - || fail "other frames differ"
# A batch and single samples are printed by different code.
tacho script --max-stack 200 -i g.data >single
tacho script -i g.data | diff single - || fail "single samples differ"
tacho script --json -i g.data -F +srcline |
	jq -es 'any(.[]; .callchain | map(select(.inlined) | [.symbol, .line]) == [["inner",4],["middle",5],["call_leaf",7]])' \
	>/dev/null || fail "script --json"

# report: the sample counts for leaf, all others are its callers.
tacho report -i g.data --stdio -g none -s sym 2>/dev/null | awk '!/^#/ && NF { print $1, $2, $4, $5 }' >got
for name in leaf inner middle call_leaf work main; do
	grep -q " $name" got || fail "report has no $name"
done
awk '$3 ~ /^(inner|middle|call_leaf)$/ && ($2 != "0.00%" || $4 != "(inlined)") { bad = 1 } $3 == "leaf" && $2 + 0 < 80 { bad = 1 }
	$3 == "inner" && $1 + 0 < 80 { bad = 1 } END { exit bad }' got || fail "report's values: $(cat got)"
tacho report -i g.data --stdio --no-children -g caller -s sym 2>/dev/null | grep -q 'middle (inlined)' || fail "call graph"
tacho report -i g.data --stdio --no-inline 2>/dev/null | grep -q inlined && fail "report --no-inline"
tacho report -i g.data --no-children -g none --stdio -s sym 2>/dev/null | grep -v '^#' | sort >with
tacho report -i g.data --no-children -g none --stdio -s sym --no-inline 2>/dev/null | grep -v '^#' | sort | diff with - ||
	fail "own samples depend on inlined functions"
tacho report -i g.data -S leaf --no-children -g none --stdio -s sym 2>/dev/null | grep -q 'leaf$' || fail "report -S leaf"

# Exports.
tacho export -f folded -i g.data | grep -q ';work;call_leaf;leaf;middle;inner [0-9]' || fail "folded"
tacho export -f folded --no-inline -i g.data | grep -q ';work;leaf [0-9]' || fail "folded --no-inline"
tacho export -f speedscope -i g.data | jq -e '[.shared.frames[].name] | contains(["inner", "middle", "leaf"])' >/dev/null ||
	fail "speedscope"
tacho flame -i g.data -o f.svg && grep -q '>inner' f.svg || fail "flame"
