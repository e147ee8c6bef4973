# Debug information in all the forms that compilers and distributions use gives the same places and variables: link-time
# optimization, split (.dwo), compressed, shared by dwz, separate by debug link, DWARF 4. Damaged data is refused, not followed.
. "$SUPPORT/lib.sh"
need gcc
need objcopy
cat >p.c <<'C'
struct state { struct state *next; int depth; char name[8]; };
int total;
static inline __attribute__((always_inline)) int inlined(int a) { total += a; return a * total; }
__attribute__((noinline)) long work(struct state *s, int n)
{
	long value = 1;

	for (int i = 0; i < n; i++) {
		value = value * 3 + inlined(i);
		s->depth++;
	}
	return value;
}
int main(int c, char **v)
{
	struct state s = { 0 };

	(void)v;
	return work(&s, c) == 42;
}
C
definitions() {	# PROGRAM: without its name
	for request in 'work n s->depth s->next->name:string' 'work%return $retval' inlined; do
		tacho probe -x "./$1" -D "$request" 2>err || fail "$1: $request: $(cat err)"
	done | sed "s/probe_[a-z0-9]*/GROUP/; s#/[^ ]*:0x[0-9a-f]*#PLACE#"
}
gcc -O2 -g -o plain p.c
definitions plain >want
[ "$(wc -l <want)" = 3 ] && grep -q 'n=%[a-z0-9]*:s32 depth=+8(%[a-z0-9]*):s32 name=+12(+0(%[a-z0-9]*)):string$' want || fail "$(cat want)"
try() {	# NAME GCC-OPTION...
	form=$1
	shift
	gcc -O2 -g "$@" -o "$form" p.c 2>err || return 0	# not by this compiler
	definitions "$form" | diff want - || fail "$form"
}
try lto -flto
try split -gsplit-dwarf
try splitfour -gsplit-dwarf -gdwarf-4
try four -gdwarf-4
try packed -gz
cp plain separate
objcopy --only-keep-debug separate separate.debug
objcopy --strip-all --add-gnu-debuglink=separate.debug separate
definitions separate | diff want - || fail "a debug link"
if command -v dwz >/dev/null; then
	cp plain one
	cp four two
	dwz one
	definitions one | diff want - || fail "dwz"
	cp plain one
	dwz -m shared one two 2>/dev/null
	definitions one | diff want - || fail "dwz -m"
fi
# Each damage: an answer or a message.
size=$(wc -c <plain)
for i in $(seq 12); do
	cp plain damaged
	for at in 3 7 11; do
		printf '\377\0\200' | dd of=damaged bs=1 seek=$(((i * 7919 * at) % size)) conv=notrunc 2>/dev/null
	done
	status=0
	tacho probe -x ./damaged -D 'work $vars' >out 2>err || status=$?
	[ $status = 0 ] || { [ $status = 1 ] && grep -q '^tacho probe: ' err; } || fail "damage $i: status $status: $(cat err)"
	status=0
	tacho probe -x ./damaged -V work >out 2>err || status=$?
	[ $status = 0 ] || { [ $status = 1 ] && grep -q '^tacho probe: ' err; } || fail "damage $i: status $status: $(cat err)"
done
