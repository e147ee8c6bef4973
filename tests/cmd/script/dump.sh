# -D of script, report and annotate prints records as perf does: their bytes and main fields. `script -D --json` has all
# fields.
. "$SUPPORT/lib.sh"
. "$SUPPORT/stored.sh"
. "$SUPPORT/newest.sh"
need jq
stored_c_program p <<'C'
#define NI __attribute__((noinline, noclone))
volatile long sum;
NI void inner(long n) { for (long i = 0; i < n; i++) sum += i; }
NI void outer(long n) { inner(n); sum++; }
static void work(const char *arg) { (void)arg; outer(60000000); }
C
stored chains.data live_perf record -q -e cpu-clock:u -c 2000000 -g -d -W --user-regs=ip,sp --namespaces --switch-events -o chains.data ./p
stored stack.data live_perf record -q -e cpu-clock:u -c 2000000 --call-graph dwarf,1024 -o stack.data ./p
stored group.data live_perf record -q -e '{cpu-clock:u,page-faults:u}:S' -c 2000000 -i -o group.data ./p
for file in chains stack group; do
	newest_says script -D --no-inline -i $file.data | grep -a -v '^ \.\.\. id:\|^\.\.\. id:\|^\.\.\. unit:\|^\.\.\. scale:' >perfs
	tacho script -D --no-inline -i $file.data >ours 2>err || { cat err; fail "script -D -i $file.data"; }
	# Of the records that only tools write, the fields are not shown.
	sed -i 's/\(PERF_RECORD_\(ID_INDEX\|THREAD_MAP\|CPU_MAP\)\).*/\1/; s/: unhandled!$//' perfs
	cp ours all
	if [ $file = group ]; then	# perf repeats the thread and the object for each value
		sed -i '/^ \.\.\. thread: /d; /^ \.\.\.\.\.\. dso: /d' perfs ours
	fi
	diff perfs ours >difference || { head -n 40 difference; fail "script -D -i $file.data"; }
	grep -c 'PERF_RECORD_SAMPLE' ours >>samples
	# The lines of report are the same, without those of the samples.
	tacho report -D -i $file.data >reported 2>err || { cat err; fail "report -D"; }
	grep 'PERF_RECORD\|^\.' all >wanted
	grep 'PERF_RECORD\|^\.' reported | diff wanted - >difference || { head difference; fail "report -D -i $file.data"; }
	grep -q "^Aggregated stats:" reported || fail "no statistics at the end of report -D"
	tacho annotate -D -i $file.data | cmp - reported || fail "annotate -D"
done
[ "$(sort -n samples | head -n 1)" -ge 2 ] || { cat samples; fail "a recording has no samples"; }
# In file order, and as JSON.
tacho script --dump-unsorted-raw-trace -i chains.data | sed -n 's/.*\(0x[0-9a-f]*\)@chains.*/\1/p' >unsorted
[ "$(wc -l <unsorted)" = "$(tacho script -D --json -i chains.data | jq -s length)" ] || fail "JSON has another number of records"
while read -r offset; do
	echo $((offset))
done <unsorted | sort -n -c || fail "the records are not in file order"
# A damaged record: its bytes are shown, and a message says where it is.
python3 - <<'P'
import struct
file = bytearray(open("chains.data", "rb").read())
at, size = struct.unpack_from("<2Q", file, 40)
end, seen = at + size, 0
while at < end:
    kind, _, n = struct.unpack_from("<IHH", file, at)
    if kind == 9 and (seen := seen + 1) == 2:	# no room for such a call chain
        file[at + 8:at + n] = b"\xff" * (n - 8)
        open("where", "w").write(f"{at:#x}")
    at += n
open("damaged.data", "wb").write(file)
P
for command in script report; do
	[ "$(status_of tacho $command -D -i damaged.data)" = 1 ] || fail "$command -D of a damaged record"
	grep -q "the first at offset $(cat where)" err || { cat err where; fail "$command -D: no offset"; }
	grep -q "^$(cat where)@damaged.data .*event: 9" out || fail "$command -D: no bytes of the damaged record"
done
