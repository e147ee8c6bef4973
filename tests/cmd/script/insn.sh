# The fields insn, insnlen, disasm and srccode: the instruction at the address of a sample, as objdump shows it, and the text
# of its source line, once per line.
. "$SUPPORT/lib.sh"
need cc objdump awk
cat >p.c <<'C'
volatile long sum;
__attribute__((noinline)) void work(long n)
{
	for (long i = 0; i < n; i++)
		sum += i;	/* the hot line */
}
int main(void) { work(60000000); return 0; }
C
cc -g -O1 -fno-omit-frame-pointer -no-pie -o p p.c
tacho record -q -e cpu-clock:u -F 2000 -g -o a.data ./p 2>err || skip "cannot record: $(head -n 1 err)"
tacho script -G -F ip,sym,insn,insnlen -i a.data >out 2>err || { cat err; fail "script"; }
! grep libcapstone err || skip "needs libcapstone"
[ ! -s err ] || { cat err; fail "a message without a reason"; }

# As objdump: address, bytes.
objdump -d --no-addresses --insn-width=16 -j .text p >/dev/null 2>&1 || skip "needs a newer objdump"
objdump -d --insn-width=16 -j .text p | awk -F'\t' '/^ *[0-9a-f]+:\t/ { sub(":", "", $1); gsub(" ", "", $1)
	sub(/ *$/, "", $2); print $1, $2 }' >code
awk '$2 == "work" { at = $1; n = $4; sub(/.* insn: /, ""); print at, $0; if (n != NF) print "length " n ":", $0 }' out |
	sort -u >seen
[ "$(wc -l <seen)" -ge 2 ] || { head out; fail "no samples in work()"; }
sort code | comm -13 - seen >others
[ ! -s others ] || { cat others; fail "not the instructions of objdump"; }

# After a call chain they are on a line of their own.
tacho script -F ip,sym,insn -i a.data | awk '/^ insn: / { n++ } /^\t *[0-9a-f]+ work$/ { w++ } END { exit !(n >= w && w > 2) }' ||
	fail "with call chains"
tacho script -G -F ip,sym,disasm -i a.data | grep -q 'work.*%r' || fail "disasm"

# The source line, when it changes.
tacho script -G -F ip,sym,srccode -i a.data >out
grep -q '^|5 .*sum += i;	/\* the hot line \*/$' out || { head out; fail "no source line"; }
awk '/^\|/ { if ($0 == last) exit 1; last = $0 }' out || fail "a line is repeated"
rm p.c
tacho script -G -F ip,sym,srccode -i a.data >out || fail "without the source file"
! grep '^|' out || fail "a source line of no file"

# Signs, and fields that no recording has.
tacho script -G -F +insn -i a.data | grep -q 'work.* insn: ' || fail "+insn"
! tacho script -G -F ip,insn -F +sym,-insn -i a.data | grep insn || fail "-insn"
tacho script -G -F ip,sym,ipc -i a.data 2>err >out || fail "ipc"
tacho script -G -F ip,sym -i a.data | cmp - out || fail "ipc changes the output"
grep -q "the field 'ipc' is always empty: only decoded hardware traces" err || { cat err; fail "no note on ipc"; }
