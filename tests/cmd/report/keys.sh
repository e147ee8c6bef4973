# Keys that most machines cannot record: of branches, memory, weights and transactions. The samples
# are made up; perf reads them, too, and its table is the same. Left out are the lines that name
# perf's default keys, and the dots below titles of addresses, for which perf leaves no room.
. "$SUPPORT/lib.sh"
need perf cc python3 readelf nm
cat >made.c <<'C'
#define NI __attribute__((noinline))
long data_one[16] = { 1 }, data_two[64] = { 2 };
static long data_three[8];
volatile long x;
NI void work_a(long n) { for (long i = 0; i < n; i++) x += data_one[i & 15]; }
NI void work_b(long n) { for (long i = 0; i < n; i++)
	x ^= data_two[i & 63]; }
NI void work_c(long n)
{
	for (long i = 0; i < n; i++)
		data_three[i & 7] = x;
}
int main(int c, char **v) { (void)v; work_a(c); work_b(c); work_c(c); return (int)x; }
C
cc -g -O1 -no-pie -o made made.c
for kind in branch memory transaction; do
	"$SUPPORT/hardware-samples" $kind "$PWD/made" $kind.data
done
perf report --stdio -i branch.data >perf.txt 2>/dev/null || skip "perf cannot report here"

left_out='Tip:'
same() {	# FILE OPTION...
	perf report --stdio --no-inline -i "$@" </dev/null 2>/dev/null |
		grep -v -e 'Tip:' -e '^# Sort order' -e "$left_out" >perf.txt
	tacho report --stdio -i "$@" </dev/null 2>err |
		grep -v -e 'Tip:' -e '^# Sort order' -e "$left_out" >tacho.txt
	[ "$(grep -c '%' tacho.txt)" -gt 0 ] || { cat err; fail "nothing: $*"; }
	diff perf.txt tacho.txt || fail "not the same: $*"
}
same branch.data
same branch.data -b -n -s comm,cycles
same branch.data --no-branch-stack
for key in dso_from dso_to mispredict abort in_tx cycles srcline_from srcline_to addr_to cpu socket \
	pid,dso_to; do
	same branch.data -s $key
done
left_out='^# '
same branch.data -s addr_from
left_out='Tip:'
same branch.data -F overhead,symbol_from,symbol_to
same branch.data -F overhead,sample,overhead_us,overhead_sys,comm
same memory.data
same memory.data --show-cpu-utilization -s comm
tacho report -i memory.data --show-cpu-utilization -s comm -q >out
tacho report -i memory.data --showcpuutilization -s comm -q | diff out -
same memory.data --mem-mode
for key in dso_daddr locked tlb mem snoop phys_daddr data_page_size code_page_size blocked \
	local_ins_lat ins_lat srcline srcfile addr weight local_weight,tlb,locked \
	mem,snoop,blocked,comm weight,tlb,locked,snoop srcline,phys_daddr,comm cpu,socket; do
	same memory.data --mem-mode -s $key
done
same memory.data --mem-mode -F overhead,sample,symbol_daddr,dso_daddr,mem
same memory.data --mem-mode -F overhead,sample,symbol_iaddr
for key in transaction transaction,local_weight,weight,comm weight srcline,comm,sym srcfile; do
	same transaction.data -s $key
done

# perf shows lines of a cache by a wrong offset: their shares are the same.
perf report --stdio -i memory.data --mem-mode -s dcacheline 2>/dev/null | sed -n 's/%.*data/ data/p' |
	sed 's/+.*//' >perf.txt
tacho report -i memory.data --mem-mode -s dcacheline 2>/dev/null | sed -n 's/%.*data/ data/p' |
	sed 's/[+-]0x.*//' >tacho.txt
[ -s tacho.txt ]
diff perf.txt tacho.txt

# In branch mode a weight is the branch's cycles, at least 1.
tacho report -i branch.data -s local_weight -q | sed '/^$/d' | awk '{ print $1, $2 }' | sort >weights
tacho report -i branch.data -s cycles -q | sed '/^$/d' | awk '{ print $1, $2 == "-" ? 1 : $2 }' | sort >cycles
diff weights cycles
tacho report -i memory.data --mem-mode -s srcline,mem --json | jq -e '.events[0].entries[0] |
	(.srcline | test("^made.c:[0-9]+$")) and has("mem")' >/dev/null
tacho report -i memory.data --mem-mode -s srcfile --full-source-path -q | grep -q "$PWD/made.c"

# Half of the samples were taken while two threads ran: each of them counts half.
"$SUPPORT/hardware-samples" switch "$PWD/made" switch.data
tacho report -i switch.data -F overhead,latency,parallelism -q | sed '/^$/d' >latency.txt
cat latency.txt
[ "$(awk '$3 == 1 { print ($1 > 49 && $1 < 51 && $2 > 66 && $2 < 68) }' latency.txt)" = 1 ]
[ "$(awk '$3 == 2 { print ($1 > 49 && $1 < 51 && $2 > 32 && $2 < 34) }' latency.txt)" = 1 ]
tacho report -i switch.data --latency -s parallelism -q | sed '/^$/d' | awk '{ print $1, $2, $3 }' >sorted
awk '{ print $2, $1, $3 }' latency.txt | sort -rn | diff - sorted
[ "$(tacho report -i switch.data --parallelism 2 -s parallelism -q | sed '/^$/d' | wc -l)" = 1 ]
tacho report -i switch.data --latency -s comm --json | jq -e '[.events[0].entries[].latency_percent] | add |
	. > 99 and . < 101' >/dev/null
refused 129 tacho report -i switch.data --parallelism x

# Unknown keys are refused, and similar ones suggested.
refused 129 tacho report -i memory.data -b
grep -q "no branches were recorded" err
refused 129 tacho report -i transaction.data --mem-mode
grep -q "no sources of data were recorded" err
refused 129 tacho report -i memory.data -s srclin
grep -q "did you mean 'srcline'" err
refused 129 tacho report -i memory.data -s comm,nosuchthing
grep -q "keys are overhead .*srcline.*fields of tracepoints" err
refused 129 tacho report -i memory.data -F overhead,nosuchthing
refused 129 tacho report -i memory.data -g graph,branch
