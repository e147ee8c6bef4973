# A probe in the C library with an argument in a register: defined, recorded, printed and removed, as in the manual. The sizes are
# those that the program asked for, and perf prints the recording alike.
# run: alone
. "$SUPPORT/lib.sh"
need_root
need cc
[ -w /sys/kernel/tracing/uprobe_events ] || skip "this kernel has no uprobe_events"
[ "$(uname -m)" = x86_64 ] || skip "the register is one of x86-64"
libc=$(ldd "$(command -v tacho)" | awk '$1 ~ /^libc\.so/ { print $3 }')
[ -n "$libc" ] || skip "tacho has no libc.so"
! tacho probe -l probe_libc:malloc | grep -q . || skip "somebody probes malloc"
trap 'tacho probe -q -d probe_libc:malloc 2>/dev/null || true' EXIT
cat >p.c <<'C'
#include <stdlib.h>
int main(void)
{
	void *volatile p;

	for (size_t n = 12345; n < 12350; n++) {
		p = malloc(n);
		free(p);
	}
	return 0;
}
C
cc -O1 -o p p.c
tacho probe -x "$libc" malloc size=%di 2>err
grep -q '^  probe_libc:malloc  *(on malloc in /.* with size)$' err || fail "$(cat err)"
tacho probe -l | grep -q 'probe_libc:malloc' || fail "not listed"
tacho record -q -e probe_libc:malloc -o p.data ./p
tacho probe -d probe_libc:malloc 2>err
grep -qx 'Removed event: probe_libc:malloc' err || fail "$(cat err)"
tacho script -i p.data -F size | sed 's/.*=//' | awk '$1 >= 12345 && $1 < 12350' >out
seq 12345 12349 | diff - out || fail "the sizes"
tacho script -i p.data | grep -q 'probe_libc:malloc: ([0-9a-f]*) size=0x3039$' || fail "$(tacho script -i p.data)"
! tacho probe -l probe_libc:malloc | grep -q . || fail "it is left"
if command -v perf >/dev/null; then
	tacho script -i p.data | sed 's/  */ /g' >ours
	perf script -i p.data 2>/dev/null | sed 's/  */ /g' >theirs
	diff theirs ours || fail "perf prints another text"
fi
