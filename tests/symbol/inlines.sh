#!/bin/sh
# Inlined functions are those of llvm-symbolizer: at random addresses of programs with deep inlining, from gcc and clang,
# in every form that debug data comes in. In most forms libdw is asked, too.
#
#	inlines.sh INLINES INLINES-AGAINST-LLVM [INLINES-BY-LIBDW]
set -eu
inlines=$(realpath "$1")
against=$(realpath "$2")
by_libdw=${3:+$(realpath "$3")}
n=${ADDRESSES:-2000}
command -v llvm-symbolizer >/dev/null && command -v g++ >/dev/null || {
	echo "needs g++ and llvm-symbolizer"
	exit 77
}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
export XDG_CACHE_HOME="$dir/cache"
cat >one.cpp <<'C'
#include <algorithm>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

int two(int x, std::vector<int> &v);
namespace {
struct counter {
	int sum = 0;
	void add(int x) { for (int i = 0; i < 9; i++) sum += x * i ^ (sum >> 3); }
	template <class F> void each(const std::vector<int> &v, F f) { for (int x : v) add(f(x)); }
};
template <int N> struct tower { static inline int up(int x) { return tower<N - 1>::up(x * 3 + N) ^ N; } };
template <> struct tower<0> { static inline int up(int x) { return x; } };
inline int checked(int x) { if (x == 77777) throw std::runtime_error("x"); return x; }
}
int main(int argc, char **argv)
{
	std::vector<int> v;
	std::map<std::string, int> names;
	counter c;
	struct local { static __attribute__((noinline)) int f(int x) { return tower<6>::up(x); } };

	for (int i = 0; i < 1000; i++)
		v.push_back(tower<20>::up(i * argc));
	std::sort(v.begin(), v.end(), [](int a, int b) { return (a & 255) < (b & 255); });
	c.each(v, [argc](int x) { return checked(x) + argc; });
	try {
		names[argv[0]] = two(local::f(c.sum), v);
	} catch (const std::exception &e) {
		names[e.what()]++;
	}
	std::function<int(int)> g = [&](int x) { return c.sum + x; };
	return g(names.size()) & 1;
}
C
cat >two.cpp <<'C'
#include <numeric>
#include <vector>
static inline int weigh(int x, int y) { return x * y ^ (x - y); }
int two(int x, std::vector<int> &v)
{
	int sum = 0;

	for (auto &i : v)
		sum += weigh(i, x);
	v.erase(v.begin() + v.size() / 2);
	return std::accumulate(v.begin(), v.end(), sum);
}
C
seq -f "%.0f" 4096 64 20000 | while read -r a; do printf "%x\n" "$a"; done >addresses
# libdw does not enter blocks whose ranges miss some of their inlined calls, nor functions inside others: there it ends earlier.
by_libdw() {	# NAME PROGRAM: the inlined functions are those that libdw finds
	[ -n "$by_libdw" ] && "$by_libdw" "$dir/$2" <addresses >by_libdw || return 0
	"$inlines" "$dir/$2" <addresses | sed 's/ [^ ]*:[0-9]* < / < /g; s/ < [^<]*$//; s/^[^<]* [^<]*:[0-9]*$//' >by_tacho
	paste -d '\t' by_libdw by_tacho | awk -F '\t' -v what="$1" '
		$1 == "no function" || $1 == $2 { same += $1 != "" && $1 == $2; next }
		$1 == substr($2, length($2) - length($1) + 1) { shorter++; next }
		{ print what ": libdw " $1 ", tacho " $2; bad = 1 }
		END { print what ": as libdw " same ", " shorter + 0 " where it ends earlier"; exit bad || same < 20 || shorter > same / 4 }
	' >difference || { cat difference >&2; exit 1; }
	tail -1 difference
}
compare() {	# NAME PROGRAM [DEBUG-FILE]
	"$against" "$inlines" "$dir/$2" "$n" "$dir/${3:-$2}" >out || { echo "$1:" >&2; cat out >&2; exit 1; }
	echo "$1: $(tail -1 out | sed 's/^[^:]*: //')"
	# Again, from the cache, where the functions of the first run are.
	"$inlines" "$dir/$2" <addresses >first_run
	"$inlines" "$dir/$2" <addresses >from_cache
	diff first_run from_cache >difference || { echo "$1: the cache differs" >&2; head -5 difference >&2; exit 1; }
	"$against" "$inlines" "$dir/$2" "$n" "$dir/${3:-$2}" >out || { echo "$1, from the cache:" >&2; cat out >&2; exit 1; }
}

for version in 4 5; do
	for level in 2 3; do
		g++ -g -gdwarf-$version -O$level -o p one.cpp two.cpp
		compare "g++ DWARF $version -O$level" p
		by_libdw "g++ DWARF $version -O$level" p
	done
done
g++ -g -O2 -flto -o p one.cpp two.cpp && compare "g++ LTO" p
g++ -g -O2 -static -o p one.cpp two.cpp && compare "g++ static" p
g++ -g -O2 -no-pie -ffunction-sections -fdata-sections -Wl,--gc-sections -o p one.cpp two.cpp && compare "g++ without PIE" p
if command -v clang++ >/dev/null; then
	for version in 4 5; do
		clang++ -g -gdwarf-$version -O2 -o p one.cpp two.cpp && compare "clang++ DWARF $version" p
		by_libdw "clang++ DWARF $version" p
	done
fi
# Split debug data: the same as without, from .dwo files and from packages. (llvm-symbolizer 14 misses functions there that have
# several ranges.)
seq -f "%.0f" 4096 5 20000 | while read -r a; do printf "%x\n" "$a"; done >close
same() {	# NAME: what `p` answers equals ./unsplit
	"$inlines" "$dir/p" <close >answer
	diff unsplit answer >difference || { echo "$1: differs from debug data that are not split" >&2; head -5 difference >&2; exit 1; }
}
split() {	# VERSION COMPILER OPTION...
	what="split, DWARF $1, $2" flags="-g -gdwarf-$1"
	shift
	rm -f ./*.dwo p.dwp
	"$@" $flags -c one.cpp two.cpp && "$@" $flags -o p one.o two.o && "$inlines" "$dir/p" <close >unsplit
	[ "$(grep -c ' < ' unsplit)" -gt 100 ] || { echo "$what: too few inlined functions" >&2; exit 1; }
	"$@" $flags -gsplit-dwarf -c one.cpp two.cpp && "$@" $flags -o p one.o two.o
	same "$what"
	case $what in *g++*) packers=dwp ;; *) packers="dwp llvm-dwp" ;; esac	# llvm-dwp 14 does not end with g++'s
	for dwp in $packers; do
		command -v $dwp >/dev/null && timeout 10 $dwp -e p -o p.dwp 2>/dev/null && [ -s p.dwp ] || continue
		mkdir files && mv ./*.dwo files
		same "$what, package of $dwp"
		cp p.dwp whole.dwp
		objcopy --compress-debug-sections=zlib p.dwp 2>/dev/null && same "$what, compressed package of $dwp"
		mv files/* . && rmdir files p.dwp 2>/dev/null || rm -f p.dwp
	done
	echo "$what: equal"
}
for version in 4 5; do
	split $version g++ -O2
	split $version g++ -O3 -ffunction-sections
	! command -v clang++ >/dev/null || split $version clang++ -O2
done
# Beside the program; of another build, or no file; and damaged ones.
mkdir moved && mv ./*.dwo p moved/ && mv moved/p . && ! "$inlines" "$dir/p" <close | diff -q unsplit - >/dev/null ||
	{ echo "split units are found where they are not" >&2; exit 1; }
mv moved/*.dwo .
mv one.dwo kept.dwo
mkfifo one.dwo
"$inlines" "$dir/p" <close >/dev/null
rm one.dwo
mkdir one.dwo
"$inlines" "$dir/p" <close >/dev/null
rmdir one.dwo
cp two.dwo one.dwo
"$inlines" "$dir/p" <close >/dev/null
for i in $(seq 40); do
	cp kept.dwo one.dwo
	[ ! -e whole.dwp ] || cp whole.dwp p.dwp
	for file in one.dwo p.dwp; do
		[ -e "$file" ] || continue
		size=$(wc -c <"$file")
		head -c $((i % 4 + 1)) /dev/urandom |
			dd of="$file" bs=1 seek=$((($(od -An -N4 -tu4 /dev/urandom)) % size)) conv=notrunc 2>/dev/null
	done
	"$inlines" "$dir/p" <addresses >/dev/null || { echo "a damaged .dwo file or package is fatal" >&2; exit 1; }
done
rm -f ./*.dwo ./*.dwp

g++ -g -O2 -Wl,--build-id -o p one.cpp two.cpp
for pack in zlib zlib-gnu zstd; do
	objcopy --compress-debug-sections=$pack p packed 2>/dev/null || continue
	compare "$pack" packed p
done
if command -v dwz >/dev/null; then
	cp p first
	cp p second
	dwz -m shared first second && compare "dwz, shared with another file" first p &&
		by_libdw "dwz" first
	mkdir -p elsewhere && cp p elsewhere/third && cp p elsewhere/fourth
	(cd elsewhere && dwz -m "$dir/elsewhere/../shared2" -M "$dir/shared2" third fourth) && compare "dwz, absolute name" elsewhere/third p
	rm shared2
	"$inlines" "$dir/elsewhere/third" <addresses >without || { echo "a missing shared file is fatal" >&2; exit 1; }
fi
cp p whole
objcopy --only-keep-debug p p.debug
objcopy --strip-all --add-gnu-debuglink=p.debug p
compare "separate file" p whole
# Once more, from the cache: a file that has just been made is not cached.
sleep 3
compare "uncached" p whole
compare "cached" p whole
[ "$(find cache/tacho/inlines -type f | wc -l)" -gt 0 ] || { echo "nothing was cached" >&2; exit 1; }
# Another file with the same build ID does not use the entry.
cp p.debug other.debug
objcopy --update-section .debug_str=/dev/null other.debug 2>/dev/null && mv other.debug p.debug && {
	"$inlines" "$dir/p" <addresses >of_other
	cmp -s of_other from_cache && { echo "the cache of another file is used" >&2; exit 1; }
	cp whole again && objcopy --only-keep-debug again p.debug
}
# A damaged entry is ignored.
sleep 3
"$inlines" "$dir/p" <addresses >/dev/null
for file in cache/tacho/inlines/*; do
	head -c 300 /dev/urandom | dd of="$file" bs=1 seek=120 conv=notrunc 2>/dev/null
done
compare "damaged cache" p whole
# With too much debug data in memory, the object has no inlined functions any more; the symbols stay.
"$inlines" --pruned "$dir/whole" <addresses >pruned
[ "$(tail -n +2 pruned | grep -c ' < ')" = 0 ] && grep -q '^main ' pruned && grep -q ' < ' from_cache ||
	{ echo "pruned debug data are still used" >&2; exit 1; }
