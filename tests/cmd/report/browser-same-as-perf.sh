# With all chains open, the lines of the browser are those of perf's on the same file.
. "$SUPPORT/lib.sh"
. "$SUPPORT/record.sh"
need perf
. "$SUPPORT/tmux.sh"
tacho version --build-options | grep -q 'ncurses: \[ on' || skip "built without ncurses"
alike hot.data cpu-clock:u -g "$TEST_BIN/hot"

# The last line is each one's own; perf counts the widths of columns before it leaves rows out, and
# draws a scroll bar.
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
same() {	# OPTIONS
	terminal 120 40 "perf report -i hot.data --no-inline $*"
	open_all >perf.lines
	terminal 120 40 "tacho report -i hot.data $*"
	open_all >tacho.lines
	diff perf.lines tacho.lines || fail "not as perf's: $*"
	[ -n "$then" ] || grep -q "heavy_work\|spin" tacho.lines || fail "no chains: $*"
}
terminal 120 40 "perf report -i hot.data --tui"
for i in $(seq 100); do screen | grep -qE 'Samples: |status' && break; sleep 0.1; done
screen | grep -q '^Samples: ' && ! screen | grep -q status || skip "this perf has no TUI"
same
same --no-children
same -n --percent-limit 1
# A limit is one of branches as well.
same --percent-limit 40
same --percent-limit 40 -g fractal,1
limit=40
same
limit=
same --hierarchy
same --hierarchy -n --show-total-period
# Another limit closes all levels.
then=3
same --hierarchy
then=
same -s dso,sym
same -g fractal
same --no-children -g caller
same -s pid,sym -g callee
# What follows a function that was sampled itself begins a node of its own.
alike hot.data cpu-clock:u -g "$TEST_BIN/hot" deep
same
same --no-children -g caller
same -g callee
