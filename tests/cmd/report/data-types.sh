# The keys type, typeoff and typecln: what the instructions of the samples access.
. "$SUPPORT/lib.sh"
need cc python3 objdump
case $(uname -m) in x86_64) ;; *) skip "the program is in x86-64 assembly" ;; esac
# In each function nearly all samples are at the instruction that waits for memory, or at the next one, which counts for it.
cat >p.c <<'C'
struct point { int x, y; };
struct node { struct node *next; struct point at; char pad[100]; unsigned long count; };
struct node one = { .count = 1 };
static struct { long a, b; } totals;
static long counter;
#define HOT(operand) for (long i = 0; i < 100000; i++) __asm__ volatile("inc%z0 %0" : "+m"(operand) : : "memory")
__attribute__((noinline)) void member(struct node *n) { HOT(n->count); }
__attribute__((noinline)) void nested(struct node *n) { HOT(n->at.y); }
__attribute__((noinline)) void global(void) { for (long i = 0; i < 100000; i++) { totals.b++; __asm__ volatile("" ::: "memory"); } }
__attribute__((noinline)) void plain(void) { HOT(counter); }
__attribute__((noinline)) void local(void) { volatile struct point p[2] = { { 0 } }; HOT(p[1].y); }
__attribute__((noinline)) void element(long *v) { HOT(v[0]); }
__attribute__((noinline)) void raw(void *v) { for (long i = 0; i < 100000; i++) __asm__ volatile("incq (%0)" : : "r"(v) : "memory"); }
int main(void)
{
	long values[4] = { 0 };

	for (int i = 0; i < 100; i++) {
		member(&one); nested(&one); global(); plain(); local(); element(values); raw(values);
	}
	return 0;
}
C
cc -g -O1 -fno-omit-frame-pointer -o p p.c || fail "the program does not compile"
tacho record -q -e cpu-clock:u -F 5000 -o a.data ./p 2>err || skip "cannot record: $(head -n 1 err)"

tacho report -i a.data -s type --stdio 2>err >out || { cat err; fail "report"; }
! grep 'data types are unknown' err || skip "$(cat err)"
[ ! -s err ] || { cat err; fail "a message"; }
grep -q '^# Overhead  Data Type' out || fail "no title"

# Most samples of a function have this type; a few are at other instructions.
tacho report -i a.data -s sym,typeoff,typecln -t'|' --stdio >table
mostly() {	# FUNCTION TYPE_AND_MEMBER CACHE_LINE
	awk -F'|' -v function_name="$1" -v type="$2" -v line="$3" '{ for (i = 1; i <= NF; i++) gsub(/^ *| *$/, "", $i) }
		$2 == "[.] " function_name { all += $1 }
		$2 == "[.] " function_name && $3 == type && $4 == line { these += $1 }
		END { exit !(all > 1 && these > all * 0.6) }' table || { grep " $1 *|" table; fail "$1 does not access '$2', '$3'"; }
}
mostly member 'struct node +0x78 (count)' 'struct node: cache-line 1'
mostly nested 'struct node +0xc (at.y)' 'struct node: cache-line 0'
mostly global 'struct (anonymous) +0x8 (b)' 'struct (anonymous): cache-line 0'
mostly plain 'long int +0 (no field)' 'long int: cache-line 0'
mostly element 'long int +0 (no field)' 'long int: cache-line 0'
mostly raw '(unknown)' '(unknown): cache-line 0'
mostly local 'struct point[] +0xc (no field)' 'struct point[]: cache-line 0'

# Sums do not depend on the key; JSON has the same texts.
tacho report -i a.data -s type,typeoff --json >a.json
python3 - <<'P'
import json
rows = json.load(open('a.json'))
text = json.dumps(rows)
assert 'struct node +0x78 (count)' in text and '"struct node"' in text, text[:500]
P
sum() { awk '{ s += $1 } END { printf "%.0f\n", s }'; }
[ "$(tacho report -q -i a.data -s type --stdio | sum)" = 100 ] || fail "the sum is not 100 %"
tacho diff -s type a.data a.data | grep -q 'struct node' || fail "diff"

# Without debug data types are unknown, without a message.
strip --strip-debug -o q p
mv q p
tacho report -i a.data -s type --stdio 2>err >out && [ ! -s err ] || { cat err; fail "a stripped program"; }
! grep 'struct node' out || fail "types from nowhere"
