# A local variable on a source line of optimized code: the probe records what the program computed there. Counted and recorded
# with a definition, and without one as uprobe:FILE:SOURCE:LINE.
. "$SUPPORT/lib.sh"
need_root
need cc
[ -w /sys/kernel/tracing/uprobe_events ] || skip "this kernel has no uprobe_events"
g=tacho_line_$$
trap 'tacho probe -q -d "$g:*" 2>/dev/null || true' EXIT
cat >p.c <<'C'
#include <stdio.h>
#include <stdlib.h>
struct state { int depth; long sum; };
__attribute__((noinline)) void show(long value, struct state *s)
{
	printf("%ld %d\n", value, s->depth);
}
__attribute__((noinline)) long work(struct state *s, int n)
{
	long value = 1;

	for (int i = 0; i < n; i++) {
		value = value * 3 + i;
		s->depth++;
		__asm__ volatile("nop" ::: "memory");	/* code of its own */
		show(value, s);
		s->sum += value;
	}
	return value + s->sum;
}
int main(int argc, char **argv)
{
	struct state s = { 0 };

	return work(&s, argc + 5) == 42 && argv[0];
}
C
line=$(grep -n 'code of its own' p.c | cut -d : -f 1)
compilers="cc"
! command -v clang >/dev/null || compilers="cc clang"
for compiler in $compilers; do
	for opt in -O2 -O3 "-O2 -flto" "-O2 -gdwarf-4" "-Os"; do
		$compiler -g $opt -o p p.c 2>err || continue	# clang needs lld for -flto
		# A line that begins where another one does is refused, and the other one named.
		at=$line
		tacho probe -x p -n "p.c:$line" 2>err || at=$(sed -n 's/.*probe line \([0-9]*\) instead$/\1/p' err)
		if ! tacho probe -x p "$g:at=p.c:$at v=value:s64 s->depth" 2>err; then
			# clang may keep the parts of a sum instead of it.
			[ "$compiler" = clang ] && grep -q 'cannot be read here' err && continue
			fail "$compiler $opt: $(cat err)"
		fi
		tacho record -q -e "$g:at" -o p.data ./p >want
		tacho probe -q -d "$g:at"
		tacho script -i p.data -F v,depth | sed 's/[a-z]*=//g; s/ *$//' >got
		# A loop may be unrolled; then the line is several places with one name.
		[ -s want ] && diff want got || fail "$compiler $opt"
		tacho stat -x, -o counts -e "uprobe:./p:p.c:$at" ./p >/dev/null
		[ "$(csv_value "uprobe:./p:p.c:$at" counts)" = "$(wc -l <want)" ] || fail "$compiler $opt: $(cat counts)"
	done
done
