# The text of a recording with call chains is perf's, line by line, in every style of call graph.
# Addresses without a symbol are left out, because they may be shown in another form.
. "$SUPPORT/lib.sh"
. "$SUPPORT/record.sh"
. "$SUPPORT/stored.sh"
stored_c_program w <<'C'
#define NI __attribute__((noinline))
volatile long x;
NI void leaf1(long n) { for (long i = 0; i < n; i++) x += i; }
NI void leaf2(long n) { for (long i = 0; i < n; i++) x ^= i; }
NI void rec(int d, long n) { if (d) { rec(d - 1, n); x++; } else leaf1(n); leaf2(n / 3); }
NI void mid(long n) { leaf1(n); leaf2(n * 2); for (long i = 0; i < n; i++) x -= i; }
NI void touch(volatile char *pages, long n) { for (long i = n; i < n + 2; i++) pages[(i & 1023) << 12]++; }
NI void work(const char *times)
{
	volatile char pages[4 << 20];
	long n = 0;

	for (; *times; times++)
		n = n * 10 + *times - '0';
	for (long i = 0; i < n; i++) {
		mid(20000);
		rec(3, 10000);
		touch(pages, 2 * i);
	}
}
C
# The samples are distributed so that few branches of the call graph have equal weights.
stored g.data alike g.data cpu-clock:u -g ./w 8000
stored plain.data alike plain.data cpu-clock:u ./w 1000
stored two.data alike two.data cpu-clock:u,page-faults:u -g ./w 6000
stored values.data alike values.data '{cpu-clock:u,page-faults:u}:S' -g ./w 6000

left_out='Tip:'
# perf 6.1 calls the rest of a level inlined, or not, by chance.
same() {	# FILE OPTION...
	perf report --stdio --no-inline -i "$@" </dev/null 2>/dev/null | sed 's/\[\.\.\.\] (inlined)/[...]/' |
		grep -v -e 'Tip:' -e '^# captured on' -e '\[unknown\]' -e "$left_out" >perf.txt
	case "$*" in		# perf 6.1 leaves Children out of hierarchies; perf 7 and tacho show it
	*--no-children*--hierarchy* | *--hierarchy*--no-children*) ;;
	*--hierarchy*) set -- "$@" --no-children -G ;;
	esac
	tacho report --stdio -i "$@" </dev/null 2>err |
		grep -v -e 'Tip:' -e '^# captured on' -e '\[unknown\]' -e "$left_out" >tacho.txt
	case "$*" in		# perf 7 has wider columns here
	*--stats*) sed -i 's/^  *\([A-Z]\)/\1/' perf.txt tacho.txt ;;
	esac
	diff perf.txt tacho.txt || fail "not the same: $*"
}
for options in "" --no-children "--no-children -g caller" "-g --no-children" "-g callee" "-n --no-children" \
	"-g flat --no-children" "-g folded" "-g folded --no-children" "-g graph,20" \
	"-s sym --no-children" "-s dso,sym" "-s comm" "-s sym -g none" "-t, -n" \
	"-w 20,10,30 -g none" "-F overhead,sym,sample,period --no-children -g none" \
	"-F +period,comm -g none" "-F +sample -s comm -g none" \
	"-F overhead_children,comm -g none" "-F overhead,overhead_children,sym -g none" \
	"-F overhead,sym -s comm --no-children -g none" "-F sym,sample --no-children -g none" \
	"-F period,sym -p rec|mid --no-children -g none" "-F comm -s sample,sym --no-children -g none" \
	"-q -g none" "-p rec -x" "-d w --no-children" \
	"--percent-limit 5 -g none" "--percent-limit 40" "-g graph,1 --percent-limit 40 --no-children" \
	"--percent-limit 40 -g fractal,1" "--show-total-period -g none" "-g graph,period --no-children" \
	"--time 0%-20%" "-c w --no-children --percentage relative" \
	"--symbol-filter leaf --percentage relative -g none" "--stats"; do
	same g.data $options
done
# perf makes the columns of a hierarchy as wide as the longest name, even if it is not shown.
left_out='^# \.\.\.'
same g.data --hierarchy
same g.data --hierarchy -n --show-total-period
same g.data --hierarchy --no-children -s dso,sym
same g.data --hierarchy -n -t, -s dso,sym -g none
same g.data --hierarchy --percent-limit 90 -n -g none
same two.data --hierarchy -n
left_out='Tip:'
same plain.data
same plain.data -n
same two.data
same two.data --no-children
same two.data --group --no-children
left_out='^# Samples:'	# perf writes "events" here, although each table has one
same two.data --no-group --no-children
left_out='Tip:'
same two.data --stats
same values.data
same values.data --no-children -n
same values.data --no-children -n -w 12,16,3
same values.data --no-children -n -t,
same g.data -w 9,9,2 -g none
same values.data --stats
same two.data --header-only
same values.data --header-only
