# Hardware traces in report and annotate: samples of instructions and branches, decoded from the trace.
. "$SUPPORT/lib.sh"
need cc awk
[ -x "$TEST_BIN/pt-recording" ] || skip "needs libipt-dev"
tacho version --build-options | grep -q 'libipt: \[ on' || skip "tacho was built without libipt"
cat >p.c <<'C'
__asm__(".globl _start\n_start: xor %ebp,%ebp\n call start\n hlt\n");
volatile unsigned sum;
__attribute__((noinline)) void hot(int n) { for (int i = 0; i < n; i++) sum += i; }
__attribute__((noinline)) void cold(int n) { for (int i = 0; i < n; i++) sum ^= i; }
void start(void)
{
	for (int i = 0; i < 10; i++) {
		hot(90);
		cold(10);
	}
	__asm__ volatile("syscall" :: "a"(231), "D"(0));
}
C
cc -O1 -g -static -nostdlib -fno-stack-protector -fcf-protection=none -no-pie -o p p.c 2>err || skip "cannot compile: $(cat err)"
"$TEST_BIN/pt-recording" a.data a.txt -- ./p || skip "cannot run a program by single steps"

# Every instruction: the shares are exact.
tacho script -i a.data --itrace=i1i -F ip,sym | awk '{ n[$2]++; all++ }
	END { for (f in n) printf "%s %.2f%%\n", f, 100 * n[f] / all }' | sort >expected
tacho report -i a.data --itrace=i1i --stdio -g none -s sym 2>err | awk '/%/ { print $NF, $1 }' | sort >shares
cmp expected shares || { diff expected shares; cat err; fail "other shares"; }
awk '$1 == "hot" && $2 + 0 > 80 { found = 1 } END { exit !found }' shares || fail "hot() is not hot"
# The default: instructions each 100 us with call chains. This program is shorter.
tacho report -i a.data --stdio >out 2>&1 || { cat out; fail "report"; }
grep -q "of event 'psb'" out || { cat out; fail "the default"; }
tacho report -i a.data --itrace=i50ig --stdio -G -s sym | awk '/ hot *$/ { seen = 1 } seen && /start/ { found = 1 } END { exit !found }' ||
	fail "no call graph"
tacho report -i a.data --itrace=b --stdio -s sym 2>/dev/null | grep -q "of event 'branches:u'" || fail "branches"
tacho report -i a.data --no-itrace --stdio 2>&1 | grep -q 'has no samples' || fail "--no-itrace"
tacho annotate -i a.data --itrace=i1i --stdio -s hot 2>/dev/null | grep -q 'sum += i' || fail "annotate"
# A copy with the samples in place of the trace, which other programs can read.
tacho inject -i a.data -o b.data --itrace=i1i 2>err || { cat err; fail "inject"; }
tacho report -i b.data --stdio -g none -s sym 2>/dev/null | awk '/%/ { print $NF, $1 }' | sort | cmp expected - || fail "the copy is different"
tacho inject -i - -o c.data --itrace=i1i <a.data && cmp b.data c.data || fail "inject from a pipe"
if command -v perf >/dev/null; then
	perf script -i b.data -F ip,sym 2>/dev/null | awk '{ print $2 }' | sort | uniq -c | awk '{ print $2, $1 }' >theirs
	tacho script -i b.data -F ip,sym | awk '{ print $2 }' | sort | uniq -c | awk '{ print $2, $1 }' | cmp theirs - || fail "perf reads something else"
fi
# Files without a trace: the option changes nothing, and a message says so.
tacho report -i b.data --itrace=i --stdio 2>err | grep -q hot && grep -q 'no hardware trace' err || fail "without a trace"
refused() { tacho "$@" >out 2>err && fail "accepted: $*"; grep -q -- --itrace err || { cat err; fail "no reason: $*"; }; }
refused report -i a.data --itrace=iy
refused annotate -i a.data --itrace=k
refused inject -i a.data -o d.data --itrace=o
# Damage ends nothing: the rest is shown, and a message says how much was skipped.
python3 - <<'P'
data = bytearray(open("a.data", "rb").read())
at = data.index(bytes((2, 0x82)) * 8) + 300
data[at:at + 30] = bytes([0x5a]) * 30
open("bad.data", "wb").write(data)
P
tacho report -i bad.data --itrace=i1ie --stdio -s sym >out 2>err
grep -q 'of its .* bytes were skipped' err || { cat err; fail "no message"; }
