#!/bin/sh
# The lines that libtacho finds are those of addr2line: every address of a program's code, for
# every version of DWARF, compressed or not, in the program or in a separate file. That of binutils
# 2.40 takes the first file of a table of version 5 for the unit's own: there LLVM's is asked.
#
#	lines.sh SRCLINES
set -eu
srclines=$(realpath "$1")
command -v addr2line >/dev/null && command -v objdump >/dev/null && command -v cc >/dev/null || {
	echo "needs cc, addr2line and objdump"
	exit 77
}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
mkdir sub
cat >sub/inner.h <<'C'
static inline int twice(int x) { int sum = 0;
	for (int i = 0; i < x; i++)
		sum += i ^ x;
	return sum; }
C
cat >one.c <<'C'
#include <stdio.h>
#include <stdlib.h>
#include "sub/inner.h"
int two(int x);
__attribute__((section(".text.cold"))) int cold(int x)
{
	return twice(x) - x / 3;
}
static int cmp(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }
int main(int argc, char **argv)
{
	int v[100], n = 0;

	for (int i = 0; i < 100; i++)
		v[i] = twice(i * argc) ^ two(i);
	qsort(v, 100, sizeof(*v), cmp);
	for (int i = 0; i < 100; i++)
		switch (v[i] & 7) {
		case 0: n += cold(i); break;
		case 1: n ^= two(n); break;
		case 2: printf("%d %s\n", n, argv[0]); break;
		default: n--;
		}
	return n & 1;
}
C
cat >two.c <<'C'
#include "sub/inner.h"
#include <string.h>
int two(int x)
{
	char text[64];

	memset(text, x, sizeof(text));
#line 900 "made.y"
	if (text[3] > 4)
		return twice(text[x & 31]);
	return (int)strlen(text + 60);
}
C

# addr2line adds discriminators, and says "?" for a line that is none. Versions before 5 do not have
# the directory of the compilation in their line tables: there names are compared without it.
asked=addr2line
compare() {	# PROGRAM NAME [WHOLE [ASKED_FOR]]
	objdump -d "$1" | sed -n 's/^ *\([0-9a-f]*\):.*/\1/p' >addresses
	[ "$(wc -l <addresses)" -gt 200 ] || { echo "$2: too few addresses" >&2; exit 1; }
	$asked -e "${4:-$1}" <addresses | sed -e 's/ (discriminator.*//' -e 's/.*:[?0]$/??:0/' >want
	"$srclines" "$dir/$1" <addresses >got
	if [ -z "${3:-}" ]; then
		sed -i 's,.*/,,' want
		sed -i 's,.*/,,' got
	fi
	[ "$(grep -c '\.[cyh]:' got)" -gt 150 ] || { echo "$2: hardly a line was found" >&2; exit 1; }
	diff want got >difference || { echo "$2: not the same" >&2; head -20 difference >&2; exit 1; }
	echo "$2: $(wc -l <got) addresses, $(sort -u got | wc -l) lines"
}

for version in 2 3 4; do
	for level in 0 2; do
		cc -g -gdwarf-$version -O$level -o p one.c two.c
		compare p "DWARF $version -O$level"
	done
done
asked=llvm-addr2line
command -v $asked >/dev/null || { echo "llvm-addr2line is not there: version 5 is left out"; exit 0; }
for level in 0 2; do
	cc -g -gdwarf-5 -O$level -o p one.c two.c
	compare p "DWARF 5 -O$level"
done
cc -g -gdwarf-5 -O2 -o p one.c "$dir/two.c"
compare p "whole paths" whole
cc -g -gdwarf64 -O2 -o p one.c two.c 2>/dev/null && compare p "64-bit DWARF"
for pack in zlib zlib-gnu zstd; do
	objcopy --compress-debug-sections=$pack p packed 2>/dev/null || continue
	cp packed packed.plain
	objcopy --decompress-debug-sections packed.plain
	compare packed "$pack" "" packed.plain
done
cc -g -gdwarf-5 -O2 -Wl,--build-id -o p one.c two.c
cp p whole
objcopy --only-keep-debug p p.debug
objcopy --strip-all --add-gnu-debuglink=p.debug p
compare p "separate file" "" whole
if command -v clang >/dev/null; then
	clang -g -O2 -o p one.c two.c && compare p "clang"
fi
# A larger program: this one, with all of the library in it. Of functions that a sanitizer adds at the
# end of a file addr2line knows nothing, though the table has their line.
cp "$srclines" large
objdump -d large | sed -n 's/^ *\([0-9a-f]*\):.*/\1/p' | awk 'NR % 7 == 0' >addresses
addr2line -e large <addresses | sed -e 's/ (discriminator.*//' -e 's/.*:[?0]$/??:0/' -e 's,.*/,,' >want
"$srclines" "$dir/large" <addresses | sed 's,.*/,,' >got
paste want got | awk '$1 != $2 && $1 != "??:0"' >difference
more=$(paste want got | awk '$1 != $2' | wc -l)
[ ! -s difference ] && [ "$more" -le $(($(wc -l <got) / 100)) ] || {
	echo "large: not the same, and $more more" >&2
	head -20 difference >&2
	exit 1
}
echo "large: $(wc -l <got) addresses"

# What cannot be read has no lines, and nothing else happens.
objcopy --strip-debug whole bare
head -c 3000 whole >cut
for file in bare cut; do
	[ "$(echo 1139 | "$srclines" "$dir/$file" 2>&1 || echo '??:0')" = '??:0' ] || exit 1
done
