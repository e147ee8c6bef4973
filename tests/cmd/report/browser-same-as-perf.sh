# With all chains open, the lines of the browser are those of perf's on the same file.
. "$SUPPORT/lib.sh"
need perf
. "$SUPPORT/tmux.sh"
tacho version --build-options | grep -q 'ncurses: \[ on' || skip "built without ncurses"
perf record -q -e cpu-clock:u -F 2000 -g -o hot.data "$TEST_BIN/hot" 2>err || skip "perf cannot record here"

# The last line is each one's own; perf counts the widths of columns before it leaves rows out, and
# draws a scroll bar.
lines() { screen | sed '$d; s/[◆▒]//; s/  *$//; s/\([^ ]\)  */\1 /g'; }
same() {	# OPTIONS
	terminal 120 40 "perf report -i hot.data --no-inline $*"
	shows "Samples: "; press E; shows "-  "; settled
	lines >perf.lines
	press q
	terminal 120 40 "tacho report -i hot.data $*"
	shows "Samples: "; press E; shows "-  "; settled
	lines >tacho.lines
	press q
	diff perf.lines tacho.lines || fail "not as perf's: $*"
	grep -q 'outer' tacho.lines || fail "no chains: $*"
}
terminal 120 40 "perf report -i hot.data --tui"
for i in $(seq 100); do screen | grep -qE 'Samples: |status' && break; sleep 0.1; done
screen | grep -q '^Samples: ' && ! screen | grep -q status || skip "this perf has no TUI"
same
same --no-children
same -n --percent-limit 1
same --hierarchy
same -s dso,sym
same -g fractal
same --no-children -g caller
same -s pid,sym -g callee
