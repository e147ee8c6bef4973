# The text of a comparison is that of perf 7, line by line. Known differences are left out: perf's -S shows no rows; its
# -v shows the address of a function's first sample, tacho that of the function.
. "$SUPPORT/lib.sh"
. "$SUPPORT/record.sh"
. "$SUPPORT/stored.sh"
. "$SUPPORT/newest.sh"
stored_c_program w <<'C'
#define NI __attribute__((noinline))
volatile long x;
NI void alpha(long n) { for (long i = 0; i < n; i++) x += i; }
NI void beta(long n) { for (long i = 0; i < n; i++) x ^= i; }
NI void gamma(long n) { for (long i = 0; i < n; i++) x -= i; }
NI void fresh(long n) { for (long i = 0; i < n; i++) x *= 3; }
NI void touch(volatile char *pages, long n) { for (long i = 0; i < n; i++) pages[i << 12]++; }
void work(const char *how)
{
	volatile char pages[1 << 20];
	long n = 40000000;

	touch(pages, 200);
	if (*how == 'a') { alpha(10 * n); beta(2 * n); gamma(6 * n); }
	if (*how == 'b') { alpha(4 * n); beta(10 * n); gamma(6 * n); fresh(3 * n); touch(pages, 256); }
	if (*how == 'c') { alpha(2 * n); beta(2 * n); gamma(20 * n); fresh(n); }
	if (*how == 'd') { beta(n); fresh(n); }
}
C
record_of() {	# FILE HOW ARG...
	of=$1
	how=$2
	shift 2
	stored "$of" live_perf record -q -F 500 -o "$of" "$@" ./w "$how"
}
record_of a.data a -g -e cpu-clock:u
record_of b.data b -e cpu-clock:u
record_of c.data c -e cpu-clock:u
record_of d.data d -e cpu-clock:u
record_of two.data a -e cpu-clock:u,page-faults:u
record_of other.data b -e page-faults:u,cpu-clock:u
record_of group.data c -e '{cpu-clock:u,page-faults:u}'
record_of cpus.data a --sample-cpu -e cpu-clock

same() {	# OPTION... FILE...
	newest_says diff "$@" >perf.txt
	tacho diff "$@" >tacho.txt 2>err || fail "$*: $(cat err)"
	[ ! -s err ] || fail "messages: $(cat err)"
	grep -q '%' perf.txt || grep -q '^# Event' perf.txt || fail "perf shows nothing: $*"
	diff perf.txt tacho.txt || fail "not the same: $*"
}
for options in "" "-c delta" "-c delta-abs" "-c ratio" "-c wdiff:1,2" "-c wdiff:2,-1" "-F" "-p" "-F -p" "-c ratio -F -p" \
	"-c wdiff:3,1 -F -p" "-o 0" "-o 0 -c ratio" "-b" "-b -c ratio -F" "-q" "-q -p" "-t," "-t, -F -p" "-t: -c ratio" \
	"-s sym" "-s dso" "-s comm" "-s comm,dso,sym" "-s +comm" "-s sym,comm" "-s pid" "-d w" "-d nosuch" "-C w" "-C other" \
	"--percentage relative -d w" "--percentage absolute -d w" "--time 0%-50%" "--time 10%/2" \
	"--time 0%-50%,60%-80%"; do
	same $options a.data b.data
done
for options in "" "-c ratio -p" "-c wdiff:1,1 -F" "-o 2" "-o 3 -c delta" "-o 0" "-b -o 2" "-q" "-t;" "-s comm,sym" "-F -p"; do
	same $options a.data b.data c.data d.data
done
for options in "" "-c ratio" "-o 0 -p"; do
	same $options b.data a.data
	same $options two.data other.data
	same $options two.data group.data a.data
	same $options group.data other.data
	same $options other.data a.data
	same $options a.data cpus.data
	same $options --percentage relative -d w cpus.data two.data
done
