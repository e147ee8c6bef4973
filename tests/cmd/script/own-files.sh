# What tacho records reads the same by perf script, line by line, and has as many samples for hotspot.
# run: slow
. "$SUPPORT/lib.sh"
. "$SUPPORT/record.sh"
need perf python3
need_root
need_tracefs
perf --version | grep -q ' 6\.1' || skip "needs perf 6.1 to compare with"
work='ls -R /usr/share/doc >/dev/null; i=0; while [ $i -lt 2000 ]; do i=$((i + 1)); done'

same() {	# FILE SCRIPT_OPTION...
	same_file=$1
	shift
	perf script --no-inline -i "$same_file" "$@" >theirs 2>theirs.err
	tacho script --no-inline --short-names -i "$same_file" "$@" >ours 2>messages || fail "$same_file $*: failed"
	[ ! -s messages ] || fail "$same_file $*: $(head -n 1 messages)"
	[ ! -s theirs.err ] || fail "perf complains of $same_file: $(head -n 1 theirs.err)"
	"$SUPPORT/compare-script" theirs ours >different || fail "$same_file $*: $(cat different)"
	perf report --stdio --no-inline -i "$same_file" 2>/dev/null | grep -q '^ *[0-9.]*%' ||
		fail "perf report shows no row of $same_file"
}

hotspot() {	# FILE
	hotspot_got=$(hotspot_samples "$1")
	hotspot_wanted=$(tacho script -G -F comm,tid -i "$1" | grep -c .)
	[ "${hotspot_got:-$hotspot_wanted}" = "$hotspot_wanted" ] ||
		fail "hotspot reads $hotspot_got of $hotspot_wanted samples in $1"
}

cpu_records() {
	awk '/\[[0-9]+\] .*PERF_RECORD_/ { n++ } END { print n + 0 }'
}

record() {	# NAME RECORD_OPTION...
	record_name=$1
	shift
	tacho record -q -o "$record_name.data" "$@" -- sh -c "$work" 2>record.err ||
		{ cat record.err >&2; fail "cannot record $record_name"; }
}

record plain -e cpu-clock -F 1999
record chains -e cpu-clock -F 1999 -g
record everywhere -e cpu-clock -F 499 -a -g
record threads -e cpu-clock -F 1999 --per-thread
record many -e cpu-clock,page-faults,context-switches -g
record group -e '{page-faults,context-switches}'
record switches -m 4M -e 'sched:*' -a	# room for a busy machine's
record calls -e 'raw_syscalls:*,syscalls:sys_*_openat,syscalls:sys_*_read'
record fields -e cpu-clock -d -P -W --sample-cpu --switch-events --all-cgroups
tacho record -e cpu-clock -F 1999 -g -o - -- sh -c "$work" 2>/dev/null >pipe.data
tacho record -e raw_syscalls:sys_enter -o - -- ls / 2>/dev/null >pipe-calls.data
for name in plain chains everywhere threads many group switches calls fields; do
	same $name.data
	hotspot $name.data
done
same pipe.data
same pipe-calls.data
same fields.data -F +addr
for kind in task mmap; do	# their lines have the columns that samples of this type have
	for name in plain everywhere; do
		theirs=$(perf script -i $name.data --show-$kind-events 2>/dev/null | cpu_records)
		ours=$(tacho script -i $name.data --show-$kind-events | cpu_records)
		[ "$ours" = "$theirs" ] ||
			fail "--show-$kind-events of $name.data: $ours records with a CPU, perf's has $theirs"
	done
done
record packed -e cpu-clock -F 1999 -g -z
same "$(decompressed packed.data)"
tacho script -i packed.data >packed.txt
tacho script -i packed.data.plain | cmp packed.txt - || fail "decompressed samples differ"
tacho record -q -e cpu-clock -F 999 -o parts --switch-output=1s --switch-max-files 3 \
	timeout 2.5 "$TEST_BIN/spin" -c 30 >out 2>err || [ $? = 124 ]
for part in parts.*; do
	same "$part"
	hotspot "$part"
done
record stacks -e cpu-clock -F 499 --call-graph dwarf,4096,raw
perf script --no-inline -G -i stacks.data >theirs 2>/dev/null
tacho script --no-inline --short-names -q -G -i stacks.data >ours
"$SUPPORT/compare-script" theirs ours || fail "samples with stacks differ"
hotspot stacks.data
