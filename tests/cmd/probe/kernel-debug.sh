# The kernel's debug information, from a vmlinux (-k) or the file of a module (-m): places as offsets from _text or from the
# functions of the module, variables, global variables, lines. Nothing is defined, so no kprobes are needed.
. "$SUPPORT/lib.sh"
need cc
need nm
cat >kernel.c <<'C'
struct dentry { int depth; char name[16]; };
struct file { long flags; struct dentry *dentry; unsigned mode : 3; };
int total;
__attribute__((noinline)) static int helper(int n)
{
	__asm__ volatile("");
	return n + 1;
}
long vfs_thing(struct file *file, int n);
long vfs_thing(struct file *file, int n)
{
	total += n;
	__asm__ volatile("" ::: "memory");
	for (int i = 0; i < helper(n); i++)
		file->flags += i;
	return file->dentry->depth;
}
__attribute__((section(".init.text"))) int start_thing(int argument);
__attribute__((section(".init.text"))) int start_thing(int argument)
{
	__asm__ volatile("");
	return argument + total;
}
C
definitions() {	# OPTION FILE REQUEST: without the note that it is not the running kernel's file
	tacho probe "$1" "$2" -D "$3" 2>err || fail "$3: $(cat err)"
}
cc -g -O2 -fcf-protection=none -fno-pie -no-pie -nostdlib -static -Wl,-e,vfs_thing -Wl,-Ttext=0x401000 -Wl,--defsym=_text=0x400000 \
	-o vmlinux kernel.c
offset() {	# SYMBOL
	echo $((0x$(nm vmlinux | awk -v name="$1" '$3 == name { print $1 }') - 0x400000))
}
at=$(offset vfs_thing)
[ "$(definitions -k vmlinux vfs_thing)" = "p:probe/vfs_thing _text+$at" ] || fail "$(definitions -k vmlinux vfs_thing)"
grep -q "not the file of the running kernel" err || fail "no note: $(cat err)"
[ "$(definitions -k vmlinux 'vfs_thing%return $retval:s64')" = "r:probe/vfs_thing__return _text+$at \$retval:s64" ] || fail "%return"
[ "$(definitions -k vmlinux vfs_thing+4)" = "p:probe/vfs_thing _text+$((at + 4))" ] || fail "an offset"
case $(uname -m) in
x86_64) first=%di second=%si ;;
aarch64) first=%x0 second=%x1 ;;
*) skip "the registers of this machine are not in the test" ;;
esac
args="n=$second:s32 flags=+0($first):s64 depth=+0(+8($first)):s32 name=+4(+8($first)):string mode=+16($first):b3@0/32"
definitions -k vmlinux 'vfs_thing n file->flags file->dentry->depth file->dentry->name:string file->mode' >out
[ "$(cat out)" = "p:probe/vfs_thing _text+$at $args" ] || fail "$(cat out)"
# The kernel adds the address where it was loaded.
definitions -k vmlinux 'vfs_thing total' | grep -qx "p:probe/vfs_thing _text+$at total=@_text+$(offset total):s32" ||
	fail "$(definitions -k vmlinux 'vfs_thing total')"
definitions -k vmlinux 'vfs_thing $vars' | grep -q "file=$first:x64 n=$second:s32" || fail "$(definitions -k vmlinux 'vfs_thing $vars')"
line=$(tacho probe -k vmlinux -L vfs_thing | awk '$1 ~ /^[0-9]+$/ && $1 > 0 && $2 != "" { print $1; exit }')
definitions -k vmlinux "vfs_thing:$line" | grep -q "^p:probe/vfs_thing_L$line _text+[0-9]*$" || fail "a line"
definitions -k vmlinux 'kernel.c;file->flags*' | grep -q "^p:probe/vfs_thing.* _text+[0-9]*$" || fail "a pattern"
tacho probe -k vmlinux -L vfs_thing | grep -q 'total += n;$' || fail "-L"
tacho probe -k vmlinux -V vfs_thing | grep -q '	struct file\*	file$' || fail "$(tacho probe -k vmlinux -V vfs_thing)"

# A module is relocatable: each section starts at 0, and debug data refers to symbols.
cc -g -O2 -fcf-protection=none -ffunction-sections -fno-pie -c -o lab-mod.ko kernel.c
[ "$(definitions -m ./lab-mod.ko vfs_thing)" = "p:probe/vfs_thing lab_mod:vfs_thing+0" ] || fail "$(definitions -m ./lab-mod.ko vfs_thing)"
[ "$(definitions -m lab-mod.ko 'vfs_thing n file->flags file->dentry->depth file->dentry->name:string file->mode')" = \
	"p:probe/vfs_thing lab_mod:vfs_thing+0 $args" ] || fail "$(definitions -m lab-mod.ko 'vfs_thing n')"
[ "$(definitions -m lab-mod.ko 'start_thing argument')" = "p:probe/start_thing lab_mod:start_thing+0 argument=$first:s32" ] || fail "a section"
definitions -m lab-mod.ko "vfs_thing:$line" | grep -q "^p:probe/vfs_thing_L$line lab_mod:vfs_thing+[0-9]*$" || fail "a line of a module"
tacho probe -m lab-mod.ko -V vfs_thing | grep -q '	int	n$' || fail "$(tacho probe -m lab-mod.ko -V vfs_thing)"
tacho probe -m lab-mod.ko -L helper | grep -q 'return n + 1;$' || fail "-L of a module"
refused 1 tacho probe -m lab-mod.ko -D 'vfs_thing total'
grep -q "belongs to a module" err || fail "$(cat err)"
refused 1 tacho probe -m lab-mod.ko -D nosuch
refused 1 tacho probe -k lab-mod.ko -D vfs_thing
grep -q 'has no symbol _text' err || fail "$(cat err)"
refused 1 tacho probe -k nosuch -D vfs_thing
# Damaged relocations are not followed.
for damage in '\xff\xff\xff\xff' '\x00\x00\x00\x80'; do
	LC_ALL=C sed "s/lab\|\x01\x00\x00\x00/$damage/3g" lab-mod.ko >damaged.ko
	tacho probe -m damaged.ko -D 'vfs_thing file->flags' >out 2>&1 && grep -q . out || grep -q '^tacho probe: ' out || fail "$(cat out)"
done
