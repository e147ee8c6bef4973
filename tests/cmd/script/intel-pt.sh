# Intel PT: every branch of a program that was run by single steps, encoded by libipt's encoder, is decoded again: per thread and
# per CPU with context switches, interrupts and lost trace. A damaged trace is decoded from the next PSB packet on.
. "$SUPPORT/lib.sh"
need cc nm awk
[ -x "$TEST_BIN/pt-recording" ] || skip "needs libipt-dev"
tacho version --build-options | grep -q 'libipt: \[ on' || skip "tacho was built without libipt"
PATH=$TEST_BIN:$PATH

cat >p.c <<'C'
/* No libc: a few thousand instructions with all kinds of branches. */
__asm__(".globl _start\n_start: xor %ebp,%ebp\n and $-16,%rsp\n call start\n hlt\n"
	".globl ptw\nptw: .byte 0xf3,0x0f,0xae,0xe0\n nop\n ret\n");
static long call(long n, long a, long b, long c)
{
	long r;
	__asm__ volatile("syscall" : "=a"(r) : "a"(n), "D"(a), "S"(b), "d"(c) : "rcx", "r11", "memory");
	return r;
}
static int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
static int add(int x) { return x + 3; }
static int mul(int x) { return x * 5; }
int (*volatile ops[2])(int) = { add, mul };
volatile unsigned sum;
void start(void)
{
	unsigned seed = 1;
	for (int i = 0; i < 150; i++) {
		seed = seed * 1103515245 + 12345;
		sum += (unsigned)ops[seed >> 20 & 1]((int)seed);
		switch (seed >> 24 & 7) {
		case 0: sum += 3; break;
		case 1: sum ^= seed; break;
		case 2: sum -= 7; break;
		case 3: sum *= 2; break;
		case 4: sum |= 1; break;
		case 5: sum &= ~8u; break;
		case 6: call(39, 0, 0, 0); break;
		default: sum = ~sum;
		}
	}
	sum += (unsigned)fib(11);
	call(231, 0, 0, 0);
}
C
cc -O1 -g -static -nostdlib -fno-stack-protector -fcf-protection=none -no-pie -o p p.c 2>err || skip "cannot compile: $(cat err)"

same() {	# NAME: every branch of NAME.data, in the order of each thread
	tacho script -i "$1.data" --itrace=be -F tid,ip,addr >out 2>err || { cat err; fail "$1: script"; }
	awk '$3 == "=>" { print $1, $2, $4 }' out | sort -s -n -k 1,1 >ours
	awk '{ print $1, $2, $3 }' "$1.txt" | sort -s -n -k 1,1 >all
	cmp ours all || { diff all ours | head; fail "$1: other branches"; }
}
pt-recording thread.data thread.txt -- ./p || skip "cannot run a program by single steps"
same thread
[ ! -s err ] || { cat err; fail "thread: a message"; }
[ "$(wc -l <ours)" -gt 1000 ] || fail "too few branches"
for kind in jcc jmp call return start end; do
	grep -q " $kind\$" thread.txt || fail "the program has no $kind"
done
# Their kinds are the flags.
tacho script -i thread.data --itrace=b -F ip,addr,flags | awk '{ kind = $1 == "tr" ? ($2 == "strt" ? "start" : "end") : $1
	print kind }' >flags
awk '{ print $4 }' thread.txt | cmp - flags || fail "other flags"
tacho script -i thread.data --itrace=b -F flags | grep -q '^ *tr end  syscall' || fail "no system call"

# Three processes on two CPUs, with interrupts, power events and PTWRITE.
pt-recording cpu.data cpu.txt -c 3 -i 500 -w "$(nm p | awk '$3 == "ptw" { print $1 }')" -- ./p
same cpu
[ ! -s err ] || { cat err; fail "cpu: a message"; }
[ "$(cut -d' ' -f1 cpu.txt | sort -u | wc -l)" = 3 ] || fail "not three processes"
tacho script -i cpu.data --itrace=b -F flags | grep -q '^ *tr end  async' || fail "no interrupt"
tacho script -i cpu.data --itrace=w -F event,ip,sym,synth | grep -q 'ptwrite: *IP: 1 payload: 0x1122334455667788  *[0-9a-f]* ptw$' ||
	fail "no ptwrite"
tacho script -i cpu.data --itrace=p >power
for text in 'psb:  psb offs: 0 ' 'cbr:  cbr: 35 freq: 2333 MHz (117%)' 'pwre:  hw: 0 cstate: 2 sub-cstate: 1' \
	'pwrx:  deepest cstate: 3 last cstate: 2 wake reason: 0x1'; do
	grep -qF "$text" power || { cut -c 1-100 power | sort -u -k 5 | head; fail "no $text"; }
done

# A program with shared libraries, which are mapped while it runs.
printf '#include <stdio.h>\nint main(void) { puts("x"); return 0; }\n' >d.c
cc -O1 -o d d.c
pt-recording dynamic.data dynamic.txt -s 30000 -- ./d
same dynamic

# Instructions: all of them, one in 500, with call chains and last branches.
tacho script -i thread.data --insn-trace -F ip,sym,insn >insns
head -n 1 insns | grep -q '_start insn: 31 ed$' || fail "--insn-trace: $(head -n 1 insns)"
n=$(wc -l <insns)
[ "$(tacho script -i thread.data --itrace=i500i | wc -l)" = $((n / 500)) ] || fail "i500i"
[ "$(tacho script -i thread.data --itrace=i1is100 | wc -l)" = $((n - 100)) ] || fail "s100"
tacho script -i thread.data --itrace=i100ig16 -F ip,sym | awk 'BEGIN { RS = "" } / fib\n.* fib\n.* start\n.* _start/ { found = 1 }
	END { exit !found }' || fail "no call chain of fib()"
tacho script -i thread.data --itrace=i700il4 -F brstack | awk 'NF == 4 { n++ } END { exit n < 2 }' || fail "last branches"
tacho script -i thread.data --call-trace | grep -q '	        *fib  *$' || fail "--call-trace"
[ "$(tacho script -i thread.data --no-itrace | wc -l)" = 0 ] || fail "--no-itrace"
tacho script -i thread.data | grep -q 'branches:u: .* => .* fib+0x0' || fail "calls are the default"

# Lost trace is reported where it happens, and what follows is decoded. Where the last branch before goes to is lost, too.
pt-recording lost.data lost.txt -o 1500 -- ./p
tacho script -i lost.data --itrace=be -F tid,ip,addr >out 2>err
awk '$3 == "=>" { print $1, $2, $4 }' out >ours
awk '{ print $1, $2, $3 }' lost.txt | diff - ours >difference || :
n=$(grep -c 'code 7: Overflow packet, from 0x' out) || fail "no overflow: $(head out)"
[ "$n" -ge 2 ] && ! grep -q '^>' difference || { cat difference; fail "lost trace"; }
[ "$(grep -c '^<' difference)" -le $((2 * n)) ] || { cat difference; fail "too much was lost"; }
tacho script -i lost.data --itrace=be-o | grep -q 'Overflow' && fail "e-o"

# Damage: what is not decoded begins and ends where the message says, and the rest is the same.
python3 - <<'P'
data = bytearray(open("cpu.data", "rb").read())
psb = bytes((2, 0x82)) * 8
at = data.index(psb)
second = data.index(psb, at + 16)
assert second - at > 1000
data[at + 400:at + 440] = bytes((0x02, 0xff)) * 20
open("bad.data", "wb").write(data)
open("resumed", "w").write(f"{second - at:#x}")
P
tacho script -i bad.data --itrace=be -F tid,ip,addr >out 2>err
grep -q "instruction trace error type 1 time .* cpu 0 pid .*, 0x[0-9a-f]* to $(cat resumed)\$" out ||
	{ grep error out; fail "it does not say where"; }
grep -q 'errors in the trace' err || fail "no message: $(cat err)"
awk '$3 == "=>" { print $1, $2, $4 }' out >ours
tacho script -i cpu.data --itrace=b -F tid,ip,addr | awk '{ print $1, $2, $4 }' | diff - ours >difference || :
[ "$(grep -c '^<' difference)" -gt 0 ] && [ "$(grep -c '^<' difference)" -lt "$(($(wc -l <ours) / 2))" ] || fail "damage: $(wc -l <ours)"
tail -n 300 cpu.txt | awk '{ print $1, $2, $3 }' >all
tail -n 300 ours | sort >tail.ours
[ "$(sort all | comm -12 - tail.ours | wc -l)" -gt 250 ] || fail "it does not resume"

# -D lists the packets, also those that are damaged.
tacho script -D -i cpu.data >out
for line in 'PERF_RECORD_AUXTRACE_INFO type: 1' '  TSC bit             0x400' '\.  00000000:  02 82 02 82 .* PSB$' '  CBR 0x28$' ' TIP.PGE 0x401' \
	' TNT [NT]* ([0-9]*)$' ' FUP 0x' ' TIP.PGD no ip$' ' PTWRITE 0x1122334455667788 IP:1$' ' MODE.Exec IF:0 64$' ' PSBEND$'; do
	grep -q -- "$line" out || fail "-D has no line $line"
done
grep -q 'Bad packet' out && fail "-D: a bad packet"
tacho script -D -i bad.data | grep -q '02  .*Bad packet!$' || fail "-D: no bad packet"

# Options that mean nothing here.
for letters in k d G q i5x g0 e-z; do
	tacho script -i thread.data --itrace=$letters >out 2>err && fail "--itrace=$letters is accepted"
	grep -q -- '--itrace' err || { cat err; fail "--itrace=$letters: no position"; }
done
