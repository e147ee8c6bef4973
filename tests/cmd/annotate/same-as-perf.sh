# Functions, titles, addresses, shares and source lines are those of perf 7, in the same order. Instructions are
# spelled by libcapstone, so their text is only compared where both use objdump. perf's numbers of source lines count
# the lines of objdump's output; its blank lines and headings are left out. Its --percent-type global-hits are all 0.00.
. "$SUPPORT/lib.sh"
. "$SUPPORT/record.sh"
. "$SUPPORT/stored.sh"
. "$SUPPORT/newest.sh"
need objdump
stored_c_program w -g "-fdebug-prefix-map=$PWD=/nowhere/src" <<'C'
#define NI __attribute__((noinline))
volatile long x;
NI long collatz(long n)
{
	long steps = 0;

	while (n != 1) {
		if (n & 1)
			n = 3 * n + 1;
		else
			n /= 2;
		steps++;
	}
	return steps;
}
NI void add(long n)
{
	for (long i = 0; i < n; i++)
		x += i * 3;
}
NI void both(long n)
{
	add(n * 20);
	for (long i = 1; i < n; i++)
		x += collatz(i);
}
void work(const char *times)
{
	long n = 0;

	for (; *times; times++)
		n = n * 10 + *times - '0';
	for (long i = 0; i < n; i++)
		both(300);
}
C
stored one.data live_perf record -q -F 999 -e cpu-clock:u -o one.data ./w 9000
stored two.data live_perf record -q -F 999 -e cpu-clock:u,task-clock:u -o two.data ./w 6000
stored group.data live_perf record -q -F 999 -g -e '{cpu-clock:u,task-clock:u}' -o group.data ./w 6000

rows() {	# FORM: a row per title, source line and instruction
	awk -v whole="$1" '
		/^ +: +([0-9]+ +)?[0-9a-f]+ <.*>:$/ { next }
		/^ +:/ {
			sub(/^ +: *[0-9]* */, "")
			if ($0 != "" && $0 !~ /^Disassembly of section/)
				print "source: " $0
			next
		}
		/ : +[0-9a-f]+: / && !whole {
			place = match($0, /\/\/ .*/) ? " " substr($0, RSTART) : ""
			match($0, / : +[0-9a-f]+:/)
			print substr($0, 1, RSTART + RLENGTH - 1) place
			next
		}
		whole { gsub(/ +/, " ") }
		{ print }'
}
same() {	# FORM FILE OPTION...
	form=$1
	shift
	newest_says annotate --stdio -i "$@" | rows "$form" >perf.txt
	tacho annotate --stdio -i "$@" 2>err | rows "$form" >tacho.txt
	grep -q '^ Percent\|^ Samples\|^ Period' perf.txt || fail "perf shows nothing: $*"
	diff perf.txt tacho.txt || fail "not the same: $*"
}
here="--prefix . --prefix-strip 2"
for options in "" "-s collatz" "-s add -l" "-l" "-n" "-n -s both" "--show-total-period" "--no-source" "--no-source -l" \
	"--percent-type local-hits -s add" "--percent-type global-period" "--percent-limit 20" \
	"-d w" "-P -s add" "-P -l" "-q -s collatz" "collatz" "-l -n -s collatz"; do
	same "" one.data $options $here
done
for options in "" "--group" "-n --group" "-s add" "-l --group -s collatz"; do
	same "" two.data $options $here
done
for options in "" "-n -s add" "--show-total-period -s collatz" "--no-source -s add" "--percent-type global-period"; do
	same "" group.data $options $here
done
for options in "" "-M intel" "--asm-raw"; do
	same whole one.data --no-source --objdump=objdump $options
done
