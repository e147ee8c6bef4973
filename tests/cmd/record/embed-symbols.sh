# record --embed-symbols: on a machine that has none of the recorded programs, report and script print what they print here:
# functions of programs, libraries, the kernel and JIT compilers, source lines and inlined functions. perf reads such a file.
# run: plain
. "$SUPPORT/lib.sh"
need_root
need c++ chroot ldd
tacho version --build-options | grep -q 'libdw.*on ' || skip "built without libdw"
cat >w.cpp <<'C'
#include <algorithm>
#include <cstdlib>
#include <vector>
#include <unistd.h>
#include <fcntl.h>
struct work {
	std::vector<int> v;
	int fill(int n) { for (int i = 0; i < n; i++) v.push_back((i * 7919) % 10007); return n; }
	__attribute__((noinline)) long run(int n)
	{
		v.clear();
		fill(n);
		std::sort(v.begin(), v.end(), [](int a, int b) { return (a & 255) < (b & 255); });
		return v[n / 2];
	}
};
int main()
{
	work w;
	long sum = 0;
	char bytes[65536];
	int fd = open("/dev/zero", O_RDONLY);

	for (int i = 0; i < 60; i++) {
		sum += w.run(20000);
		for (int k = 0; k < 60; k++)
			sum += read(fd, bytes, sizeof(bytes));
	}
	return sum == 1;
}
C
c++ -O2 -g -Wl,--build-id -o w w.cpp
mkdir objects
mv w objects/
tacho record -q -N -F 1999 -e cpu-clock --call-graph auto --embed-symbols -o data objects/w 2>err || skip "cannot record here: $(cat err)"
[ ! -s err ] || fail "$(cat err)"
fields=ip,sym,symoff,dso,srcline
tacho script -i data -F $fields >here
grep -q ' (inlined)' here && grep -q 'w.cpp:' here && grep -q 'main+' here || fail "too few symbols: $(head -20 here)"
tacho report --stdio -g caller -i data >report.here

# Another machine: tacho, the libraries it needs, and the recording.
elsewhere() {	# COMMAND...
	chroot root /tacho "$@"
}
mkdir -p root/tmp
cp "$TACHO" data root/
ldd "$TACHO" | grep -o '/[^ ]*' | while read -r file; do
	mkdir -p "root$(dirname "$file")"
	cp "$file" "root$file"
done
export TSAN_OPTIONS= LC_ALL=C.UTF-8 PERF_BUILDID_DIR=/nowhere
elsewhere version >/dev/null 2>err || skip "cannot run in a root of its own: $(head -n 1 err)"
same() {	# FILE WHAT: script and report print the same
	elsewhere script -i "$1" -F $fields >there 2>err || { cat err; fail "$2: script"; }
	diff here there >difference || { head -20 difference; fail "$2: not the same"; }
	[ ! -s err ] || fail "$2: $(cat err)"
}
same data "on another machine"
elsewhere report --stdio -g caller -i data >report.there 2>err
diff report.here report.there || fail "report differs"
elsewhere export -f folded -i data | grep -q 'main;work::run(int);.*std::__introsort_loop' || fail "no inlined frames in exports"
tacho record -q -N -F 1999 -e cpu-clock --call-graph auto -o without objects/w
cp without root/
elsewhere script -i without -F $fields >there 2>err
! grep -q 'work::run' there || fail "there is no other machine: it has the program"

# The kernel's functions and their modules.
if grep -q ' \[k\]\|kernel.kallsyms' here && grep -q '\[kernel.kallsyms\])$' here; then
	grep '\[kernel.kallsyms\])$' here | head -1
fi
# Code of a JIT compiler.
if cc -O1 -fomit-frame-pointer -o jitmap "$SUPPORT/jitmap.c" 2>/dev/null; then
	tacho record -q -N -F 1999 -e cpu-clock:u --call-graph auto --embed-symbols -o root/data -- ./jitmap 100 'py::work:/app/main.py' \
		'py::inner:/app/main.py' >path
	tacho script -i root/data -F $fields >here
	rm -f "$(cat path)"
	same data "JIT"
	grep -q 'py::inner' there || fail "no names of JIT-compiled functions"
fi

# Damaged symbols are ignored: the recording can still be read.
cp data root/data
at=$(grep -abo 'tacho symbols' data | head -1 | cut -d : -f 1)
[ -n "$at" ] || fail "where are the symbols?"
size=$(wc -c <data)
for i in $(seq 30); do
	cp data root/data
	head -c $((i % 3 + 1)) /dev/urandom | dd of=root/data bs=1 seek=$((at + 14 + i * 37 % (size - at - 20))) conv=notrunc 2>/dev/null
	elsewhere script -i data -F ip,sym >there 2>err || grep -q 'damaged\|corrupt' err || { cat err; fail "damaged symbols are fatal"; }
done
if command -v perf >/dev/null; then
	perf script -i data -F comm,ip,sym >out 2>err || { cat err; fail "perf cannot read it"; }
	grep -q main out || fail "perf shows no symbols"
fi
for wrong in "--threads -a" "-n -a" "--call-graph dwarf,raw"; do
	[ "$(status_of tacho record --embed-symbols $wrong -o x true)" = 129 ] || fail "accepted: $wrong"
done
[ "$(status_of tacho record --embed-symbols -o - true)" = 129 ] || fail "accepted: a pipe"
