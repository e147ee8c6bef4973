# Samples with and without call chains take the fast path of loading; --max-stack with a limit that is never reached forces the general
# path. Both show the same as perf: for short-lived programs, several events, the whole machine with the kernel, and a stream
# whose events are described only after the first samples.
. "$SUPPORT/lib.sh"
. "$SUPPORT/record.sh"
. "$SUPPORT/stored.sh"
need python3
stored_c_program w <<'C'
#define NI __attribute__((noinline))
volatile long x;
NI void leaf1(long n) { for (long i = 0; i < n; i++) x += i; }
NI void leaf2(volatile char *pages, long n) { for (long i = 0; i < n; i++) pages[(x++ & 255) << 12]++; }
NI void middle(volatile char *pages, long n) { leaf1(n); leaf2(pages, n / 2); x++; }
NI void again(volatile char *pages, int depth, long n)
{
	if (depth)
		again(pages, depth - 1, n);
	else
		middle(pages, n);
	x++;
}
NI void work(const char *how)
{
	volatile char pages[1 << 20];

	for (int i = 0; i < 60; i++) {
		again(pages, *how - '0', 50000);
		middle(pages, 40000);
	}
}
C
ln -s w first
ln -s w second
programs='for i in 1 2 3 4 5; do ./first $i & ./second 2; done; wait'
machine='for i in 1 2 3; do ls -lR /usr/share/perl >/dev/null & sort /etc/services | md5sum >/dev/null; done; wait'
piped() {	# FILE RECORD-OPTION...
	piped_to=$1
	shift
	live_perf record -q "$@" -o - -- sh -c "$programs" >"$piped_to"
}
stored one.data live_perf record -q -g -F 2000 -e cpu-clock:u -o one.data -- sh -c "$programs"
stored two.data live_perf record -q -g -F 2000 -e cpu-clock:u,page-faults:u -o two.data -- sh -c "$programs"
stored pipe.data piped pipe.data -g -F 2000 -e cpu-clock:u,page-faults:u
stored machine.data live_perf record -q -a -g -F 1500 -e cpu-clock,page-faults -o machine.data -- sh -c "$machine"

# The shell and the loader have no symbols here: rows of the two programs only.
rows() { grep -v -e 'Tip:' -e '^# captured on' -e '\[unknown\]'; }
both() {	# FILE OPTION...: both paths
	tacho report --stdio -i "$@" </dev/null 2>err | rows >fast || { cat err; fail "$*"; }
	tacho report --stdio --max-stack 2000 -i "$@" </dev/null 2>err | rows >slow
	[ "$(grep -c '%' fast)" -gt 1 ] || { cat err; fail "nothing: $*"; }
	diff fast slow || fail "the slow path shows something else: $*"
}
same() {	# FILE OPTION...: both paths and perf
	both "$@"
	perf report --stdio --no-inline -i "$@" </dev/null 2>/dev/null | rows >wanted
	diff wanted fast || fail "not the same as perf: $*"
}
for file in one two; do
	for options in "" --no-children "-s pid,sym" "-s dso,sym --no-children -g caller"; do
		same $file.data -c first,second $options
	done
	same $file.data -g none -s comm
	same $file.data -g none --no-children -s pid
done
for options in "" --no-children "-s pid,sym" "-s dso,sym --no-children -g caller"; do
	both pipe.data -c first,second $options		# of a stream perf shows no chains
done
for options in "-s comm" "-s pid"; do
	same pipe.data -c first,second -g none --no-children $options	# nor has it build ids
done
for options in "-s comm" "-s comm --no-children" "-s comm,dso --no-children"; do
	same machine.data -c ls,sort,md5sum -g none $options
done
same machine.data -g none --no-children -s dso

# Stacks that are the sampled address alone: chains are not asked for, or were not recorded. With and without filters.
for options in "" "-s pid,sym" "-s comm,dso,sym" "-c first" "-d w" "-S leaf1,leaf2" "-c second -S leaf1 -s pid,sym"; do
	both two.data -g none --no-children $options
done
both machine.data -g none --no-children
both machine.data -g none --no-children -c ls,sort -s comm,dso,sym
live_perf record -q -c 100000 -e cpu-clock:u -o plain.data -- ./w 2 2>/dev/null || echo "no recording without chains"
if [ -s plain.data ]; then
	for options in "" "-s dso,sym" "-d w" "-S leaf1,leaf2" "-c w"; do
		both plain.data $options
	done
fi

# All attributes but one after the first sample; what would leave records unaligned is left out.
python3 - <<'P'
import struct
data = open("pipe.data", "rb").read()
records, at = [], 16
while at + 8 <= len(data):
    kind, _, size = struct.unpack_from("<IHH", data, at)
    end = at + size + (struct.unpack_from("<I", data, at + 8)[0] if kind == 66 else 0)
    records.append((kind, data[at:end]))
    at = end
records = [(kind, record) for kind, record in records if len(record) % 8 == 0 and kind != 66]
attrs = [one for one in records if one[0] == 64]
records = attrs[:1] + [one for one in records if one[0] != 64]
first = next(i for i, one in enumerate(records) if one[0] == 9)
records[first + 1:first + 1] = attrs[1:]
open("late.data", "wb").write(data[:16] + b"".join(record for _, record in records))
P
for options in "" --no-children "-s pid,sym"; do
	tacho report --stdio -c first,second $options -i pipe.data 2>&1 | rows >wanted
	tacho report --stdio -c first,second $options -i late.data 2>&1 | rows >fast
	tacho report --stdio -c first,second $options --max-stack 2000 -i late.data 2>&1 | rows >slow
	diff wanted fast || fail "late attributes: another text with '$options'"
	diff fast slow || fail "late attributes: the slow path shows something else with '$options'"
done
