# The order of branches with equal weights, and the widths of columns for addresses without a symbol, are perf's. Addresses
# without an object come last, before them those of later objects, in each object the higher address first. perf orders
# objects by their addresses in its own memory.
. "$SUPPORT/lib.sh"
need cc python3 readelf nm
cat >made.c <<'C'
#define NI __attribute__((noinline))
volatile long x;
NI void work_a(void) { x++; }
NI void work_b(void) { x--; }
int main(void) { work_a(); work_b(); return (int)x; }
C
cc -O1 -no-pie -o made made.c
sed 's/work_/work_other_/g' made.c >other.c
cc -O1 -no-pie -Wl,-Ttext-segment=0x4000000 -o other other.c
"$SUPPORT/hardware-samples" ties "$PWD/made" one.data
"$SUPPORT/hardware-samples" ties "$PWD/made" two.data "$PWD/other"
own() { tacho report --stdio -i "$@" </dev/null | grep -v Tip:; }
same() {	# OPTION...: of one object
	own one.data "$@" >tacho.txt
	command -v perf >/dev/null || return 0
	perf report --stdio --no-inline -i one.data "$@" </dev/null 2>/dev/null | grep -v Tip: >perf.txt
	diff perf.txt tacho.txt || fail "not as perf's: $*"
}
for style in graph fractal flat folded; do
	same -s comm --no-children -g $style,caller
	same -g $style
	same -g $style --no-children
	same -q -s comm -g $style
	own two.data -q -s comm -g $style
done
# An address without a symbol always has the full width, even 0, and widens the object's column, too.
for options in "" "-s dso" "-w 0,0,0" -t,; do
	same -g none --no-children $options
	same -g none --no-children --time 1.025, $options
	grep '^#.*Overhead' tacho.txt
done
