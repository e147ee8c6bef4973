# Stacks of programs without frame pointers are whole, in each situation that is hard to unwind: the functions of
# support/deep.c are found in their order in nearly all samples that reached leaf(). Each is recorded twice: unwound while
# recording, and when it is read.
. "$SUPPORT/lib.sh"
. "$SUPPORT/record.sh"
case $(uname -m) in x86_64 | aarch64) ;; *) skip "stacks are unwound on x86-64 and arm64 only" ;; esac

stacks() {	# MODE FUNCTIONS: FUNCTIONS, leaf first, are the stack from leaf() on
	stacks_in dwarf "$1" "$2"
	stacks_in dwarf,raw "$1" "$2"
}

stacks_in() {	# CALL-GRAPH MODE FUNCTIONS
	call_graph=$1
	shift
	tacho record -q -e cpu-clock:u -F 1999 --call-graph $call_graph -o "$1.data" "$TEST_BIN/deep" "$1" >said 2>&1 ||
		skip "cannot record here"
	tacho script -i "$1.data" -F ip,sym >out 2>err || { cat err; fail "script fails: $1"; }
	[ ! -s err ] || { cat err; fail "$1: a message without a reason"; }
	case $call_graph:$(tacho evlist -v -i "$1.data") in
	dwarf:*STACK_USER* | dwarf:*REGS_USER*) fail "$1: the copies of the stack are in the file" ;;
	*,raw:*STACK_USER* | dwarf:*) ;;
	*) fail "$1: the copies of the stack are not in the file" ;;
	esac
	awk -v wanted="$2" '
		function check() {
			if (stack ~ /^ leaf /) {
				n++
				good += index(stack, wanted) == 1
				if (index(stack, wanted) != 1 && bad++ < 3)
					print "not" wanted ", but" stack
			}
			stack = ""
		}
		NF == 0 { check(); next }
		{ sub(/@.*/, "", $2); stack = stack " " $2 }
		END { check(); print good + 0 " of " n + 0; exit n < 20 || good < 0.97 * n }' out >sum || { cat sum; fail "$1"; }
}

end='outer main'
[ "$(uname -m)" = aarch64 ] && outermost='' || outermost=' __libc_start_call_main'
stacks plain " leaf leaf_for_a_while middle_plain $end$outermost"
stacks alloca " leaf leaf_for_a_while middle_alloca $end$outermost"
stacks realign " leaf leaf_for_a_while middle_realign $end$outermost"
stacks thread " leaf leaf_for_a_while middle_plain outer start start_thread"
stacks callback " leaf leaf_for_a_while compare"
grep -q 'middle_callback' out && grep -q 'qsort' out || fail "the callers of qsort() are missing"
stacks signal " leaf leaf_for_a_while handler __restore_rt"
grep -q 'middle_signal' out || fail "the function below the signal handler is missing"
stacks altstack " leaf leaf_for_a_while handler __restore_rt"
