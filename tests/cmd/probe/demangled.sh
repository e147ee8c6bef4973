# C++ and Rust functions by their demangled names: overloads are listed, parameters choose one, members of this are read.
. "$SUPPORT/lib.sh"
need_root
need c++
[ -w /sys/kernel/tracing/uprobe_events ] || skip "this kernel has no uprobe_events"
g=tacho_cpp_$$
trap 'tacho probe -q -d "$g:*" || true' EXIT
cat >p.cc <<'C'
#include <cstdio>
#include <string>
namespace geo {
struct Base { int id; };
struct Shape : Base {
	int w, h;
	int area(int k);
	int area(double k);
	int area(const std::string &s) const;
	bool operator<(const Shape &other) const;
};
int Shape::area(int k) { return w * h * k; }
int Shape::area(double k) { return (int)(w * h * k); }
int Shape::area(const std::string &s) const { return w * h * (int)s.size(); }
bool Shape::operator<(const Shape &other) const { return w < other.w; }
template <typename T> T twice(T v) { return v + v; }
template int twice(int);
template double twice(double);
}
int use(geo::Shape &s, int n) { return s.area(n) + s.area(2.5) + s.area(std::string("abc")) + (s < s); }
int main()
{
	geo::Shape s;
	s.id = 5;
	s.w = 2;
	s.h = 3;
	printf("%d %d\n", use(s, 7), geo::twice(4));
	return 0;
}
C
c++ -O1 -fno-inline -g -o p p.cc
c++ -O1 -fno-inline -o plain p.cc
for program in p plain; do
	[ "$(status_of tacho probe -x $program -D geo::Shape::area)" = 1 ]
	grep -q 'stands for 3 functions' err && grep -q "'geo::Shape::area(double)'" err && grep -q "parameters to choose" err ||
		fail "$(cat err)"
	for name in 'geo::Shape::area(int)' 'Shape::area(int)' 'Shape::area( int )' 'Shape::operator<' _ZN3geo5Shape4areaEi; do
		[ "$(tacho probe -x $program -D "$name" | wc -l)" = 1 ] || fail "$program: $name"
	done
	tacho probe -x $program -D 'Shape::area(int)' | grep -q "^p:probe_$program/Shape__area /" || fail "the name of the event"
	[ "$(tacho probe -x $program -D 'Shape::area(*)' | sort -u | wc -l)" = 3 ] || fail "all overloads"
	[ "$(status_of tacho probe -x $program -D 'Shape::area(char)')" = 1 ] && [ -s err ] || fail "a choice that does not exist"
	[ "$(tacho probe -x $program -D 'twice<int>' | wc -l)" = 1 ] || fail "an instance of a template"
	tacho stat -x, -o counts -e "uprobe:./$program:geo::Shape::area(int),uprobe:./$program:Shape::area(*)" ./$program >/dev/null
	awk -F, '/area\(int\)/ { one = $1 } /area\(\*\)/ || /4area/ { all += $1 } END { exit !(one == 1 && all == 3) }' counts ||
		fail "$(cat counts)"
done
tacho probe -q -x p "$g:area=Shape::area(int) k this->w this->id"
tacho probe -q -x p "$g:use=use s.h n"
tacho record -q -e "$g:*" -o p.data ./p >/dev/null
tacho script -i p.data -F event,trace | sed 's/([0-9a-f]*)/()/; s/  */ /g; s/^ //' >out
grep -qx "$g:area: () k=7 w=2 id=5" out && grep -qx "$g:use: () h=3 n=7" out || fail "$(cat out)"

# The return probes of the kernel crash Go programs: one is known by its table of functions.
if command -v objcopy >/dev/null; then
	echo table >table
	objcopy --add-section .gopclntab=table p go
	[ "$(status_of tacho probe -x go -D 'use%return')" = 1 ] && grep -q 'Go program' err || fail "$(cat err)"
	tacho probe -x go -D use >/dev/null
fi
