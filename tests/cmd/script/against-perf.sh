# perf script and tacho script print the same for many kinds of recordings, except for the differences in the man page.
# run: alone slow
. "$SUPPORT/lib.sh"
need perf python3
need_root
need_tracefs
# perf 6.1 does not show the same addresses; the newest has other names for a few symbols
perf --version | grep -q ' 6\.1' || skip "needs perf 6.1 to compare with"

work='ls -R /usr/share/doc >/dev/null; i=0; while [ $i -lt 2000 ]; do i=$((i + 1)); done'

record() {	# NAME RECORD_OPTION...: of a small program
	record_name=$1
	shift
	# perf 6.1 falls over the kernel's false marks of build ids while others record
	for try in 1 2 3; do
		! perf record -q -o "$record_name.data" "$@" -- sh -c "$work" >/dev/null 2>&1 || return 0
	done
	skip "perf cannot record $record_name"
}

# Without parameters, as perf 6.1 prints the C++ functions of the machine's other programs.
compare() {	# NAME SCRIPT_OPTION...
	compare_name=$1
	shift
	perf script --no-inline -i "$compare_name.data" "$@" >theirs 2>/dev/null
	tacho script --no-inline --short-names -i "$compare_name.data" "$@" >ours 2>messages || fail "$compare_name $*: failed"
	[ ! -s messages ] || fail "$compare_name $*: $(head -n 1 messages)"
	"$SUPPORT/compare-script" theirs ours >different ||
		fail "$compare_name $*: $(cat different)"
}

record plain -e cpu-clock -F 1999
record chains -e cpu-clock -F 1999 -g
record everywhere -e cpu-clock -F 499 -a -g
record threads -e cpu-clock -F 1999 --per-thread
record packed -e cpu-clock -F 1999 -g -z
record switches -e 'sched:*' -a
record calls -e 'raw_syscalls:*,syscalls:sys_*_openat,syscalls:sys_*_mmap,syscalls:sys_*_read'
record many -e 'cpu-clock,page-faults,raw_syscalls:sys_enter' -g
record values -e '{cpu-clock,page-faults,minor-faults}:S' -F 1999 -g
record values-everywhere -e '{cpu-clock,page-faults}:S' -F 499 -a
record kernel -e 'irq:*,timer:*,workqueue:*,signal:*,task:*,power:*' -a
perf record -q -e cpu-clock -F 1999 -g -o - -- sh -c "$work" 2>/dev/null >pipe.data

for name in plain chains everywhere threads packed switches calls many values values-everywhere kernel pipe; do
	compare $name
done
record part --switch-output=1M -e cpu-clock -F 1999
for part in part.data.*; do
	mv "$part" part-one.data
	compare part-one
done
record stacks --call-graph dwarf,4096,raw -e cpu-clock -F 499
perf script --no-inline -G -i stacks.data >theirs 2>/dev/null
tacho script --no-inline -q -G --short-names -i stacks.data >ours || fail "stacks are not read"
"$SUPPORT/compare-script" theirs ours || fail "samples with stacks differ"
compare plain --ns
compare plain -F comm,tid,time,event,ip,sym
compare plain -F +pid
compare plain --time 0%-60%	# which have at least the first or the last sample
compare plain --time 40%-100%
compare plain --reltime
compare plain --deltatime
compare plain --show-task-events --show-mmap-events
compare chains -G
compare chains --max-stack 3
compare everywhere -C 0
compare many -F trace:comm,trace
compare many -F trace:
tacho script --no-inline --short-names -i - <pipe.data >ours 2>messages
perf script --no-inline -i pipe.data >theirs 2>/dev/null
"$SUPPORT/compare-script" theirs ours || fail "a pipe read from stdin differs"
