# With all chains open, the lines of the browser are those of perf's on the same file.
. "$SUPPORT/lib.sh"
. "$SUPPORT/record.sh"
. "$SUPPORT/stored.sh"
. "$SUPPORT/tmux.sh"
tacho version --build-options | grep -q 'ncurses: \[ on' || skip "built without ncurses"
stored_c_program hot <<'C'
#define NI __attribute__((noinline))
volatile unsigned long sink;
NI void spin(unsigned n) { for (unsigned i = 0; i < n; i++) sink += i; __asm__ volatile(""); }
NI void heavy_work(void) { for (int i = 0; i < 3; i++) spin(20000); sink++; }
NI void light_work(void) { for (unsigned i = 0; i < 20000; i++) sink += i; }
NI void outer(void) { for (int i = 0; i < 1200; i++) { heavy_work(); light_work(); } sink++; }
NI void both(void) { heavy_work(); light_work(); sink++; }
NI void way(void) { both(); sink++; }
NI void deep(void) { for (int i = 0; i < 1000; i++) { light_work(); way(); for (unsigned k = 0; k < 20000; k++) sink += k; } }
NI void work(const char *how) { if (*how == 'd') deep(); else outer(); sink++; }
C
stored hot.data alike hot.data cpu-clock:u -g ./hot

# The last line differs between the two; perf computes the widths of columns before it removes rows, and draws a scroll
# bar.
lines() { screen | sed '$d; s/[◆▒]//; s/  *$//; s/\([^ ]\)  */\1 /g'; }
limit= then=
open_all() {
	shows "Samples: "
	[ -z "$limit" ] || { press L; shows "ENTER"; press $limit Enter; }
	press E; shows "-  "; settled
	[ -z "$then" ] || { press L; shows "ENTER"; press $then Enter; shows_not "ENTER"; press +; shows "   +  "; settled; }
	lines
	press q
}
perf_lines() {	# FILE LIMIT THEN OPTIONS: what the lines of perf's browser are
	terminal 120 40 "perf report -i $file --no-inline $4"
	open_all
}
file=hot.data
same() {	# OPTIONS
	expected perf_lines "$file" "$limit" "$then" "$*" >perf.lines
	case "$*" in		# perf 6.1 leaves Children out of hierarchies; perf 7 and tacho show it
	*--hierarchy*) set -- "$@" --no-children -G ;;
	esac
	terminal 120 40 "tacho report -i $file $*"
	open_all >tacho.lines
	diff perf.lines tacho.lines || fail "not as perf's: $*"
	[ -n "$then" ] || grep -q "heavy_work\|spin" tacho.lines || fail "no chains: $*"
}
same
same --no-children
same -n --percent-limit 1
# The limit of rows applies to branches of the call graph as well.
same --percent-limit 40
same --percent-limit 40 -g fractal,1
limit=40
same
limit=
same --hierarchy
same --hierarchy -n --show-total-period
# Changing the limit closes all levels.
then=3
same --hierarchy
then=
same -s dso,sym
same -g fractal
same --no-children -g caller
same -s pid,sym -g callee
# A function that was sampled itself ends a node: its callees begin a new one.
rm hot.data
stored deep.data alike deep.data cpu-clock:u -g ./hot deep
file=deep.data
same
same --no-children -g caller
same -g callee
