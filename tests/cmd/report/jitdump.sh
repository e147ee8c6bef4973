# Functions of a jitdump have their names, also where several used the same memory one after another, a function was moved,
# the recording or the dump's header has another clock, or a flag is wrong. Source lines come from the dump.
. "$SUPPORT/lib.sh"
need cc
cc -O1 -o jit "$SUPPORT/jit.c" 2>err || skip "no JIT for this machine: $(head -n 1 err)"

shares() {	# FILE: the shares of the functions, as "NAME SHARE" lines
	tacho report -i "$1" --stdio --no-children -g none -F overhead,sym -q 2>/dev/null |
		sed -En 's/^ *([0-9.]+)%  \[.\] (first one|second|third|moved) *$/\2=\1/p'
}

# Each of the four has a quarter of the CPU time: 150 ms.
check_equal() {	# FILE WHAT
	shares "$1" >shares
	[ "$(wc -l <shares)" = 4 ] || fail "$2: not four functions: $(cat shares)"
	awk -F= '$2 < 12 || $2 > 38 { bad = 1 } END { exit bad }' shares || fail "$2: not a quarter each: $(cat shares)"
}

tacho record -q -e cpu-clock:u -F 2999 -k mono -o mono.data -- ./jit . 3 >path || skip "cannot record here"
check_equal mono.data "CLOCK_MONOTONIC"
tacho record -q -e cpu-clock:u -F 2999 -k CLOCK_REALTIME -o own.data -- ./jit . 3 >path
check_equal own.data "another clock"
JIT_CLOCK=wall JIT_VERSION=2 tacho record -q -e cpu-clock:u -F 2999 -o wall.data -- ./jit . 3 >path
check_equal wall.data "wall clock in the header, version 2"
JIT_FLAGS=1 tacho record -q -e cpu-clock:u -F 2999 -k mono -o flag.data -- ./jit . 3 >path
check_equal flag.data "wrong ARCH_TIMESTAMP"

# The same by script, whose lines have source lines, and by the exports.
tacho script -i mono.data -F sym,srcline --no-inline 2>/dev/null >script || tacho script -i mono.data -F ip,sym,srcline >script
for name in "first one" second third moved; do
	grep -q "$name" script || fail "script lacks $name: $(sort script | uniq -c | sort -rn | head)"
done
grep -q 'made.up:1[01]' script && grep -q 'made.up:4[01]' script || fail "no source lines: $(sort script | uniq -c | sort -rn | head)"
tacho export -f folded -o folded -i mono.data 2>err || fail "$(cat err)"
for name in "first one" second third moved; do
	grep -q "$name" folded || fail "export lacks $name: $(cat folded)"
done

# A dump that was cut: names up to there.
dump=$(cat path)
size=$(stat -c %s "$dump")
for n in $((size - 1)) $((size / 2)) 100 41 7 0; do
	truncate -s "$n" "$dump"
	tacho report -i flag.data --stdio >cut 2>&1 || fail "a dump cut to $n bytes: $(cat cut)"
done
rm "$dump"
tacho report -i flag.data --stdio >cut 2>&1 || fail "without the dump: $(cat cut)"
