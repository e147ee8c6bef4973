# Overloaded functions of C++ are separate entries, shown with their parameters as in perf 7: in tables, hierarchies,
# scripts, folded stacks and flame graphs. --short-names makes them one.
. "$SUPPORT/lib.sh"
need c++ jq
cat >o.cpp <<'C'
#define NI __attribute__((noinline))
volatile long sum;
struct A {
	NI void add(int n) { for (int i = 0; i < n; i++) sum += i; }
	NI void add(long n, char step) { for (long i = 0; i < n; i += step) sum -= i; }
};
template <class T> NI T work(T n) { for (T i = 0; i < n; i++) sum ^= (long)i; return n; }
int main() { A a; for (int i = 0; i < 4; i++) { a.add(9000000); a.add(9000000L, 1); work<int>(9000000); } }
C
c++ -O1 -fno-omit-frame-pointer -no-pie -o o o.cpp
tacho record -q -e cpu-clock:u -F 4000 -g -o a.data ./o 2>err || skip "cannot record: $(head -n 1 err)"
cat >names <<'N'
A::add(int)
A::add(long, char)
int work<int>(int)
N
printf '%s\n' 'A::add' 'work<int>' >short

hot() { grep -F -x -f names -f short | sort -u; }	# the lines that are one of these names
same() {	# WHAT FILE-OF-NAMES: stdin has just these names
	hot >found
	diff "$2" found || fail "$1"
}
tacho report --no-children -g none -q -s sym -i a.data | sed 's/.*\[\.\] //' | same report names
tacho report --no-children -g none -q -H -s comm,sym -i a.data | sed 's/.*\[\.\] //' | same -H names
tacho report --json -s sym -i a.data | jq -r '.events[0].entries[].symbol' | same json names
tacho script -G -F ip,sym -i a.data | sed 's/^ *[0-9a-f]* *//' | same script names
tacho export -f folded -i a.data -o - | sed 's/ [0-9]*$//' | tr ';' '\n' | same folded names
tacho flame -q -i a.data -o - | sed -n 's/.*<title>//p' | sed 's/&lt;/</g; s/&gt;/>/g' | same flame names
tacho report --short-names --no-children -g none -q -s sym -i a.data | sed 's/.*\[\.\] //' | same --short-names short
tacho script --short-names -G -F ip,sym -i a.data | sed 's/^ *[0-9a-f]* *//' | same "script --short-names" short
tacho export --short-names -f folded -i a.data -o - | sed 's/ [0-9]*$//' | tr ';' '\n' | same "folded --short-names" short

# A filter takes the name with or without parameters, and commas within them do not separate.
tacho report -S 'A::add' --no-children -g none -q -s dso,sym -i a.data | sed 's/.*\[\.\] //' | hot | wc -l | grep -qx 2 ||
	fail "-S A::add"
one=$(tacho report -S 'A::add(long, char)' --no-children -g none -q -n -s comm -i a.data | awk 'NF { print $2 }')
[ "$one" = "$(tacho script -G -F ip,sym -S 'A::add(long, char)' -i a.data | grep -c add)" ] || fail "-S of one overload: $one"
[ "$one" -gt 0 ]
