# Specs that no machine understands: each gets one message that shows the text, a caret below
# the place, and status 129; the command does not run.
. "$SUPPORT/lib.sh"
n=0
while IFS= read -r spec; do
	[ -n "$spec" ] || continue
	n=$((n + 1))
	refused 129 tacho stat -e "$spec" -- touch ran
	grep -q '\^' err || { cat err >&2; fail "no caret: $spec"; }
	[ ! -e ran ] || fail "ran in spite of: $spec"
done <<'SPECS'
cylces
cycles,
,cycles
cycles,,instructions
cycles:q
cycles:uq
cycles:ppppp
cycles::u
cycles:u:k:
{
}
{}
{cycles
cycles}
{cycles,instructions
{cycles,instructions}}
{{cycles},instructions}
{cycles,}
{,cycles}
{cycles}:q
{cycles instructions}
r
rxyz
r12345678901234567
0x12:0x34:0x56:zz
99999999999:1
1:0x1ffffffffffffffff
page-faults/period=/
page-faults/period=abc/
page-faults/freq=-1/
page-faults/name=/
page-faults/no-such-term=1/
page-faults/period=1
page-faults//u/
no_such_pmu/event=1/
no_such_pmu//
software/config=/
software/config=0xfffffffffffffffff/
software/config=1,,config1=2/
software/=1/
mem:
mem:xyz
mem:0x1000:q
mem:0x1000/:w
mem:0x1000:rwxx
no_such_system:no_such_tracepoint
sched:no_such_tracepoint
sched:
:sched_switch
no_such_*:glob_*
L1-dcache-load-misses-misses
L1-dcache-flush
$(touch ran)
	cycles instructions
page-faults %s%n%s%n
[[[[
a/b/c/d/e/f
SPECS
echo "$n specs"
[ $n -ge 50 ] || fail "only $n specs"
