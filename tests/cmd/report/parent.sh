# Of several callers that match --parent, the first one in the order of the chain is taken, as in perf: the outermost
# with callers first, else the innermost.
. "$SUPPORT/lib.sh"
need cc
cat >p.c <<'C'
#define NI __attribute__((noinline, noclone))
volatile long s;
NI void m_inner(long n) { for (long i = 0; i < n; i++) s += i; }
NI void mid(long n) { m_inner(n); s++; }
NI void m_outer(long n) { mid(n); s++; }
int main(void) { m_outer(40000000); mid(20000000); return 0; }
C
cc -O1 -fno-omit-frame-pointer -fno-optimize-sibling-calls -o p p.c
tacho record -q -e cpu-clock:u -F 2000 -g -o a.data ./p 2>err || skip "cannot record: $(head -n 1 err)"
parents() {	# OPTION...: the names, the heaviest first
	tacho report -q -p '^m_' -s parent -g none -i a.data "$@" | awk '/m_/ { print $NF }' | tr '\n' ' '
}
[ "$(parents)" = "m_outer m_inner " ] || fail "callers first: $(parents)"
[ "$(parents --no-children)" = "m_inner " ] || fail "callees first: $(parents --no-children)"
[ "$(parents --no-children -G)" = "m_outer m_inner " ] || fail "-G: $(parents --no-children -G)"
[ "$(tacho report -q -p '^nothing' -s parent --no-children -g none -i a.data | awk 'NF { print $1, $2 }')" = "100.00% [other]" ] ||
	fail "no match"
