# Variables by name: what is recorded is what the program computed, without and with optimization, and by both compilers.
. "$SUPPORT/lib.sh"
need_root
need cc
[ -w /sys/kernel/tracing/uprobe_events ] || skip "this kernel has no uprobe_events"
g=tacho_vars_$$
trap 'tacho probe -q -d "$g:*" || true' EXIT
cat >p.c <<'C'
#include <stdint.h>
#include <stdio.h>
struct inner { int x, y; char name[16]; };
struct node { struct node *next; int value; const char *text; struct inner in; struct inner arr[3]; unsigned bf1 : 3, bf2 : 7;
	int64_t wide; uint8_t small; union { int in_union; }; };
int counter = 42;
static int table[4] = { 5, 6, 7, 8 };
static inline __attribute__((always_inline)) int scaled(int a, int b)
{
	int r = a * b;
	counter += r;
	return r + 1;
}
__attribute__((noinline)) int sum(struct node *n, int k)
{
	int total = 0;
	__asm__ volatile("" :: "r"(n) : "memory");	/* no store to it is dead */
	while (n) {
		total += n->value * k;
		total += scaled(n->in.x, k);
		n = n->next;
	}
	return total + table[k & 3];
}
int main(void)
{
	struct node b = { NULL, -2, "second", { 1, 2, "in" } };
	struct node a = { &b, 7, "first", { 3, 4, "xn" }, { { 0 }, { 11, 12, "arr" } }, 5, 99, -1234567890123, 200, { 31 } };
	printf("%d\n", sum(&a, 6));
	return 0;
}
C
check_values() {	# PROGRAM
	tacho probe -q -x "$1" "$g:s=sum k n->value n->next->value n->text:string n->in.name:string n->arr[1].y n->bf1 n->bf2 \
n->wide n->small n->in_union second=n->next->text:string table table[2] counter (struct node *)n->in.x"
	tacho record -q -e "$g:s" -o p.data "$1" >/dev/null
	tacho script -i p.data -F trace | sed 's/^ *([^)]*) //' >out
	tacho probe -q -d "$g:s"
	echo 'k=6 value=7 value_2=-2 text="first" name="xn" y=12 bf1=5 bf2=99 wide=-1234567890123 small=0xc8 in_union=31 second="second"' \
		'table={5,6,7,8} table_2=7 counter=42 x=3' >want
	diff want out || fail "$1"
}
for opt in -O0 -O1 -O2 -Og "-O2 -no-pie" "-O2 -gdwarf-4" "-O0 -gdwarf-4"; do
	cc -g $opt -o p p.c
	check_values ./p
done
if command -v clang >/dev/null; then
	for opt in -O0 -O2; do
		clang -g $opt -o p p.c
		check_values ./p
	done
fi

# Namespaces that are nested without end are not followed without end.
cat >nested.s <<'EOF'
	.text
	.globl main
	.type main, %function
main:	nop
	ret
	.size main, .-main
	.section .debug_abbrev
	.byte 1, 0x11, 1, 0x11, 1, 0x12, 7, 0, 0	// a unit with a range
	.byte 2, 0x2e, 0, 3, 8, 0x11, 1, 0x12, 7, 0, 0	// a function
	.byte 3, 0x39, 1, 0, 0, 0			// a namespace
	.section .debug_info
	.4byte end - start
start:	.2byte 4
	.4byte 0
	.byte 8, 1
	.8byte main, 2
	.byte 2
	.asciz "main"
	.8byte main, 2
	.fill 400000, 1, 3
	.fill 400001, 1, 0
end:
	.section .note.GNU-stack, "", %progbits
EOF
sed -i 's@[[:blank:]]*//.*@@' nested.s
cc -o nested nested.s
[ "$(status_of tacho probe -x nested -n 'main nosuch')" = 1 ] && grep -q "no variable 'nosuch'" err || fail "$(cat err)"
