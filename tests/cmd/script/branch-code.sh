# brstackinsn and its relatives: the code between the branches of a sample. The stored text is perf 7.2's.
. "$SUPPORT/lib.sh"
need cc
[ "$(uname -m)" = x86_64 ] || skip "the program is in x86-64 assembly"
cat >p.s <<'S'
	.globl work, tail, main
	.type work, @function
	.type tail, @function
	.type main, @function
	.text
work:	mov $3, %ecx		# 401000
	xor %eax, %eax		# 401005
	add $7, %eax		# 401007, the loop
	dec %ecx		# 40100a
	jne work+7		# 40100c
	call tail		# 40100e
	mov %rax, %rbx		# 401013
	jmp work+32		# 401016
	.fill 8, 1, 0x90
	nop			# 401020
	ret			# 401021
	.size work, .-work
tail:	nop			# 401022
	nop
	ret			# 401024
	.size tail, .-tail
main:	push %rbx		# 401025
	call work		# 401026
	xor %eax, %eax		# 40102b
	pop %rbx		# 40102d
	ret
	.size main, .-main
	.section .note.GNU-stack,"",@progbits
S
cc -no-pie -nostdlib -Wl,-e,main -Wl,-Ttext=0x401000 -g -o p p.s 2>err || skip "cannot link the program: $(head -n 1 err)"

# Sample addresses, and branches with the newest first: FROM/TO/FLAGS/COUNTERS.
cat >branches <<'L'
40102d 401021/40102b/52/1 401016/401020/2/0 401024/401013/12/4 40100e/401022/1/5 40100c/401007/32/2 40100c/401007/142/3 401026/401000/2/0
40102b 401021/40102b/2/0 40100b/401020/2/0 401026/401000/22/0
401021 401024/401013/2/0 40100e/401022/2/0
401007 401024/401013/2/0 40100e/401022/2/0
401021 401021/40102b/2/0 401016/401020/2/0 401024/401013/6/1
40100e 401005/40100e/8/0 401026/401000/2/0
40100c ffffffff81000010/401007/2/0 401005/ffffffff81000000/2/0 401026/401000/2/0
40100c 401005/401000/2/0 ffffffff81000030/401005/2/0 401026/401000/2/0
40102b 450000/40102b/2/0 401005/401000/2/0
7000040102b 401026/7000040102b/2/0 7000040100/401000/2/0
40102b
L
"$TEST_BIN/make-samples" blocks a.data "$PWD/p" <branches
"$TEST_BIN/make-samples" counters c.data "$PWD/p" <branches
tacho script -G -F ip,insn -i a.data >out 2>err || { cat err; fail "insn"; }
! grep libcapstone err || skip "needs libcapstone"

show() {
	echo "== $*"
	tacho script "$@" 2>err || { cat err; fail "status $?"; }
	[ ! -s err ] || { cat err; fail "a message"; }
}
show -i a.data -F time,ip,brstackinsn
show -i a.data -F ip,brstackinsnlen --max-blocks 1
show -i a.data -F ip,brstackinsn,brstackinsnlen,srcline,srccode --max-blocks 2
show -i c.data -F ip,brstackinsn,brcntr
show -i c.data -F ip,brcntr -v
tacho script -i c.data -F ip,brstackinsn,brcntr -v | grep '# br_cntr' | head -n 4

# The text of instructions instead of bytes.
tacho script -i a.data -F ip,brstackdisasm | grep -q '^	0000000000401005	xor.*%eax,%eax$' || fail "brstackdisasm"
tacho script -i a.data -F +brstackinsn -F -brstackinsn >out
! grep -q insn: out || fail "-brstackinsn"

# Recordings without these branches or counts are refused.
"$TEST_BIN/make-samples" faults f.data "$PWD/p"
refused 1 tacho script -i f.data -F +brstackinsn
grep -q 'record with -b' err || fail "$(cat err)"
refused 1 tacho script -i a.data -F +brcntr
grep -q 'record with -j any,counter' err || fail "$(cat err)"

# A damaged recording may say that counters are large.
echo '40102d 401021/40102b/52/ffffffffff 401016/401020/2/0' | "$TEST_BIN/make-samples" counters b.data "$PWD/p"
LC_ALL=C sed 's/\(branch_counter_width.\{8\}\)2\x00/\140/' b.data >wide.data
cmp -s b.data wide.data && fail "the width is not changed"
tacho script -i wide.data -F ip,brstackinsn,brcntr >out 2>err || fail "$(cat err)"
grep -q 'br_cntr: A\{32\}\.\.\. ' out || fail "$(head -c 2000 out)"

# The same with perf 7, where there is one.
perf7=$("$SUPPORT/newest-perf") || exit 0
for fields in time,ip,brstackinsn +brstackinsn,+brstackinsnlen,+srcline,+srccode ip,insn,insnlen,brstackinsn; do
	"$perf7" script -i a.data -F $fields >theirs 2>/dev/null
	tacho script -i a.data -F $fields >ours
	cmp theirs ours || fail "not perf's text: -F $fields: $(diff theirs ours | head)"
done
