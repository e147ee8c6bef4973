# A filter by symbol applies to entries with many symbols by the function of their first sample, not by its callers. perf
# shows the same.
. "$SUPPORT/lib.sh"
need perf cc strip
[ "$(uname -m)" = x86_64 ] || skip "its program leaves by a system call of x86-64"
cat >w.c <<'C'
volatile unsigned long x;
__attribute__((noinline)) static void leaf(void) { for (long i = 0; i < 200000000; i++) x += i; }
__attribute__((noinline)) static void caller(void) { leaf(); x++; }
void _start(void)
{
	caller();
	__asm__ volatile("syscall" : : "a"(231), "D"(0));
}
C
cc -nostdlib -static -O1 -fno-omit-frame-pointer -fno-optimize-sibling-calls -fcf-protection=none -o w w.c
strip -N _start -N caller w
tacho record -q -e cpu-clock:u -F 1000 -g -o w.data ./w 2>err || skip "cannot record here: $(cat err)"
rows() { tacho report --stdio -q -g none -i w.data "$@" | grep -c '%' || true; }
same() {	# OPTION...
	perf report --stdio --no-inline -g none -i w.data "$@" </dev/null 2>/dev/null | grep '^ .*%' >perf.txt || true
	tacho report --stdio -g none -i w.data "$@" 2>err | grep '^ .*%' >tacho.txt || true
	diff perf.txt tacho.txt || fail "not the same: $*"
}
[ "$(rows -s sym)" = 3 ] || fail "no chain of three"
for keys in comm pid; do
	same -s $keys --symbol-filter leaf
	same -s $keys --hide-unresolved
	[ "$(rows -s $keys --symbol-filter leaf)" = 1 ] || fail "-s $keys: its samples are in leaf"
	[ "$(rows -s $keys --symbol-filter other)" = 0 ]
	[ "$(rows -s $keys --hide-unresolved)" = 1 ] || fail "-s $keys: its samples have a name"
	[ "$(rows -s $keys --hide-unresolved -n)" = 1 ]
done

# Samples outside of all functions are left out of the sums, too.
sed 's/x++; }/for (long i = 0; i < 100000000; i++) x ^= i; }/' w.c >v.c
cc -nostdlib -static -O1 -fno-omit-frame-pointer -fno-optimize-sibling-calls -fcf-protection=none -o v v.c
strip -N _start -N caller v
tacho record -q -e cpu-clock:u -F 1000 -o w.data ./v
tacho report --stdio -i w.data -s sym >all.txt
[ "$(grep -c '%' all.txt)" -ge 2 ] || { cat all.txt; fail "nothing without a name"; }
for keys in comm pid sym dso,sym; do
	same -s $keys --hide-unresolved -n
done
tacho report --stdio -q -i w.data -s comm -U | grep -q '^ *100.00%' || fail "what is left is not 100 %"

# Neither do their callers count, and callers without a name are left out of call chains.
cc -nostdlib -static -O0 -fno-omit-frame-pointer -fcf-protection=none -o u v.c
strip -N caller u
tacho record -q -e cpu-clock:u -F 1000 -g -o w.data ./u
tacho report --stdio -q -i w.data -s sym -g folded >all.txt
grep -q '_start;0x[0-9a-f]*;leaf' all.txt || { cat all.txt; fail "no caller without a name"; }
for options in "-s comm" "-s sym -n" "-s sym --no-children" "-s dso,sym -S leaf"; do
	same --hide-unresolved $options
done
tacho report --stdio -q -i w.data -s sym -U -g folded >named.txt
grep -q '_start;leaf' named.txt && ! grep -q 0x named.txt || { cat named.txt; fail "a caller without a name"; }
