# A filter removes whole samples, also from the sums of their callers, whichever sample comes first. perf 7 shows the
# same. perf 6.1 keeps or removes an entry by its first sample, so it agrees where all samples of an entry are alike.
. "$SUPPORT/lib.sh"
. "$SUPPORT/stored.sh"
need jq
cat >w.c <<'C'
static inline __attribute__((always_inline)) void call(long number)
{
	__asm__ volatile("syscall" : : "a"(number), "D"(0) : "rcx", "r11", "memory");
}
void leaf(void) { call(39); }
void other(void) { call(39); }
void few(void) { leaf(); }
void many(void) { other(); other(); other(); }
void run(const char *at)
{
	for (; *at; at++)
		if (*at == 'f')
			few();
		else
			many();
	call(231);
}
__asm__(".globl _start\n.type _start, @function\n_start: xor %ebp, %ebp\nmov 16(%rsp), %rdi\ncall run\nhlt\n");
C
stored_program w cc -nostdlib -static -O0 -fno-omit-frame-pointer -fcf-protection=none -fno-stack-protector -Wl,--build-id -o w w.c
for calls in ffm mff; do
	stored $calls.data live_perf record -q -g -c 1 -e syscalls:sys_enter_getpid -o $calls.data ./w $calls
done
rows() {	# OPTION...: function, samples, sum of all that passed
	tacho report --json -s sym "$@" | jq -c '.events[0].entries[] | [.symbol, .samples, .children_period]' | sort
}
cat >wanted <<'E2'
["_start",0,2]
["few",0,2]
["leaf",2,2]
["run",0,2]
E2
for file in ffm mff; do
	rows -i $file.data -S leaf | diff wanted - || fail "-S leaf of $file"
	[ "$(rows -i $file.data)" = "$(rows -i $file.data -S leaf,other)" ] || fail "all functions of $file"
	[ "$(rows -i $file.data)" = "$(rows -i $file.data -d w)" ] || fail "the only object of $file"
	[ -z "$(rows -i $file.data -S few)" ] || fail "no sample fell into a caller"
done
of() {	# COMMAND OPTION...
	of_command=$1
	shift
	"$of_command" report --stdio -g none -s sym -n "$@" 2>/dev/null </dev/null | grep '^ .*%' | sed 's/ *$//' | sort ||
		true
}
same() {	# OPTION...
	of perf -i ffm.data "$@" >theirs
	of tacho -i ffm.data "$@" >ours
	diff theirs ours || fail "not the same: $*"
}
if [ "$(of perf -i ffm.data -S leaf)" = "$(of perf -i mff.data -S leaf)" ]; then
	same -S leaf
	same -S other --percentage relative
fi
same -S leaf --no-children
same -S leaf,other
same -S few
same -d w
same -c w
same -c none
