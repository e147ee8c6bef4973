# --ignore-callees: functions that match have the samples of all they called. From the function to its
# callers perf shows the same; from the outermost caller inwards it drops the callers, which is not useful.
. "$SUPPORT/lib.sh"
. "$SUPPORT/stored.sh"
need jq
cat >w.c <<'C'
static inline __attribute__((always_inline)) void call(long number)
{
	__asm__ volatile("syscall" : : "a"(number), "D"(0) : "rcx", "r11", "memory");
}
void leaf(void) { call(39); }
void middle(void) { leaf(); }
void other(void) { middle(); leaf(); leaf(); }
void again(int n) { if (n) again(n - 1); else leaf(); }
void run(void)
{
	for (int i = 0; i < 4; i++)
		other();
	for (int i = 0; i < 5; i++)
		middle();
	again(2);
	call(231);
}
__asm__(".globl _start\n.type _start, @function\n_start: xor %ebp, %ebp\ncall leaf\ncall leaf\ncall run\nhlt\n");
C
stored_program w cc -nostdlib -static -O0 -fno-omit-frame-pointer -fcf-protection=none -fno-stack-protector -Wl,--build-id -o w w.c
stored w.data live_perf record -q -g -c 1 -e syscalls:sys_enter_getpid -o w.data ./w
of() {	# COMMAND OPTION...
	of_command=$1
	shift
	"$of_command" report --stdio -i w.data -s sym -n "$@" </dev/null 2>err | grep -v 'Tip:'
}
for regex in '^middle$' 'other|middle' again leaf _start none 'l.*e$'; do
	for how in --no-children "--children -g callee" "--no-children --max-stack 2"; do
		of perf $how "--ignore-callees=$regex" >theirs
		of tacho $how "--ignore-callees=$regex" >ours
		grep -q '%' ours || { cat err; fail "nothing: $how $regex"; }
		diff theirs ours || fail "not the same: $how --ignore-callees=$regex"
	done
	# The order of drawing changes no sums; without a graph samples count the same.
	of tacho --children -g caller "--ignore-callees=$regex" | grep -E '^ +[0-9.]+% +[0-9.]+% ' | sort >caller
	of tacho --children -g callee "--ignore-callees=$regex" | grep -E '^ +[0-9.]+% +[0-9.]+% ' | sort >callee
	diff caller callee ||
		fail "caller and callee differ: $regex"
	for graph in graph none; do
		tacho report -i w.data -s sym --json --no-children -g $graph "--ignore-callees=$regex" |
			jq -c '.events[0].entries[] | [.symbol, .samples]' >$graph.txt
	done
	diff graph.txt none.txt || fail "-g none: $regex"
done
tacho report -i w.data -s sym --json --ignore-callees=middle |
	jq -c '.events[0].entries[] | [.symbol, .samples, .children_period]' | sort >ours
sort >wanted <<'E2'
["_start",0,20]
["again",0,1]
["leaf",11,11]
["middle",9,9]
["other",0,12]
["run",0,18]
E2
diff wanted ours || fail "other sums"
refused 129 tacho report -i w.data --ignore-callees='*('
grep -q 'regular expression' err
