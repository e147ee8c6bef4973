# Source lines and variables: each line that -L numbers can be probed and no other, and what -V says of a variable is true.
. "$SUPPORT/lib.sh"
need cc
cat >p.c <<'C'
#include <stdio.h>
#include <stdlib.h>
int total;
static inline __attribute__((always_inline)) int scaled(int a, int b)
{
	int r = a * b;
	total += r;
	return r + 1;
}
__attribute__((noinline)) int work(int n, int once, const char *text)
{
	int sum = 0;

	puts(text);
	for (int i = 0; i < n; i++) {
		sum += scaled(i, n);
		if (sum > 1000)
			puts("large");
	}
	return sum + rand();
}
int main(int argc, char **argv)
{
	return work(argc, 2, argv[0]) == 0;
}
C
for opt in -O0 -O2 "-O2 -gdwarf-4"; do
	cc -g $opt -o p p.c
	tacho probe -x p -L work >out
	head -n 1 out | grep -q "^<work@.*p\.c:0>$" || fail "$(cat out)"
	for line in 0 1 2 3 4 5 6 7 8 9 10 11; do
		numbered=no
		! grep -q "^ *$line  " out || numbered=yes
		can=no
		! tacho probe -x p -D "work:$line" >defs 2>err || can=yes
		[ $numbered = $can ] || fail "$opt: line $line is numbered: $numbered, can be probed: $can; $(cat out)"
	done
	# Where -V says a variable is, a probe takes it, and only there.
	for point in work work:4 work:6 work:10; do
		tacho probe -x p -V $point >vars 2>err || { grep -q 'no code' err && continue; fail "$(cat err)"; }
		grep -q "@<work+" vars || fail "$(cat vars)"
		for name in n once text sum i; do
			grep "	$name\$" vars >/dev/null && listed=yes || listed=no
			if [ $listed = yes ]; then
				tacho probe -x p -D "$point $name" >defs 2>err || fail "$opt $point $name: $(cat err vars)"
			elif grep "	$name	(" vars >/dev/null; then
				! tacho probe -x p -D "$point $name" >defs 2>err || fail "$opt $point $name: $(cat defs vars)"
			fi
			# The nearest line that it names is one where the variable can be read.
			near=$(sed -n "s/.*	$name	(.*can be read at line \([0-9]*\))/\1/p" vars | head -n 1)
			[ -z "$near" ] || ! grep -q "^ *$near  " out || tacho probe -x p -V "work:$near" | grep -q "	$name\$" ||
				fail "$opt $point: $name at line $near: $(tacho probe -x p -V "work:$near")"
		done
	done
done
cc -g -O2 -o p p.c
tacho probe -x p -V work:10 | grep -q 'once	(.*optimized out\|once	(entry value only' || fail "once is not used: $(tacho probe -x p -V work:10)"
tacho probe -x p -V work --externs --range | grep -q '\[EXT\]	int	total' || fail "no global variable"
tacho probe -x p -V work --range | grep -q '\[VAL\]	int	n	@<work+\[0-' || fail "no range"
tacho probe -x p -L p.c:4-6 >out
[ "$(wc -l <out)" = 4 ] && grep -q "^<.*p\.c:4>$" out || fail "$(cat out)"
[ "$(tacho probe -x p -L work:2+3 | wc -l)" = 4 ] || fail "$(tacho probe -x p -L work:2+3)"
for bad in work:foo work:1-foo work:1+foo 'work;lazy*pattern' work:5-3 nosuch nosuch.c:1; do
	[ "$(status_of tacho probe -x p -L "$bad")" = 1 ] && [ -s err ] || fail "-L $bad: $(cat out err)"
done
# Sources that were moved are found below -s DIR; a program without debug information is refused with the reason.
mkdir moved
mv p.c moved
[ "$(status_of tacho probe -x p -L work)" = 1 ] && grep -q 'cannot be read' err || fail "$(cat err)"
tacho probe -x p -s moved -L work | grep -q 'puts(text)' || fail "-s"
tacho probe -x p -s moved -D 'work;returnsum*' | grep -q '^p:probe_p/work ' || fail "a pattern with -s"
cc -O2 -o plain moved/p.c
[ "$(status_of tacho probe -x plain -D 'work n')" = 1 ] && grep -q 'has no debug information' err || fail "$(cat err)"
[ "$(status_of tacho probe -x plain -D 'work:3')" = 1 ] && grep -q 'has no debug information' err || fail "$(cat err)"
