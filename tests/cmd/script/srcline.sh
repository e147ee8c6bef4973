# The field srcline: perf prints the same lines after the frames of a program with debug information.
# Frames of the C library are left out: addr2line of binutils 2.40 errs in some of its files. So are
# addresses of chains: with this field, and only then, perf shows offsets in their place.
. "$SUPPORT/lib.sh"
need perf cc addr2line jq
cat >w.c <<'C'
#include <stdlib.h>
#define NI __attribute__((noinline))
volatile long x;
NI void leaf(long n) { for (long i = 0; i < n; i++) x += i; }
NI void mid(long n)
{
	leaf(n);
	leaf(n * 2);
	for (long i = 0; i < n; i++)
		x -= i;
}
int main(int c, char **v) { for (int i = 0; i < atoi(v[c - 1]); i++) mid(20000); }
C
cc -g -O1 -fno-omit-frame-pointer -fno-optimize-sibling-calls -o w w.c
tacho record -q -e cpu-clock:u -F 2000 -g -o g.data ./w 1500 2>err || skip "cannot record here: $(cat err)"
same() {	# OPTION...
	perf script -i g.data --no-inline "$@" 2>/dev/null | grep -e 'w.c:' -e '/w)' |
		sed 's/^\t *[0-9a-f]*/\t/' >perf.txt
	tacho script -i g.data --no-inline "$@" | grep -e 'w.c:' -e '/w)' |
		sed 's/^\t *[0-9a-f]*/\t/' >tacho.txt
	[ "$(grep -c 'w.c:[0-9]' tacho.txt)" -gt 5 ] || fail "hardly a line: $*"
	diff perf.txt tacho.txt || fail "not the same: $*"
}
same -F comm,ip,sym,dso,srcline
same -F +srcline
same -G -F comm,ip,sym,dso,srcline,symoff
same --full-source-path -F ip,sym,dso,srcline
tacho script -i g.data --json -F +srcline | jq -e -s 'any(.[]; .file != null and .line > 3)' >/dev/null
