# data convert --to-ctf has the events of perf's, with the same values.
. "$SUPPORT/lib.sh"
need perf babeltrace2
need_root
need_tracefs
perf record -q -g -o a.data -e cpu-clock,page-faults -F 1999 sh -c 'ls -R /usr/share/doc >/dev/null' >/dev/null 2>&1 ||
	skip "perf cannot record here"
perf record -q -a -o b.data -e 'sched:*,irq:*,timer:*,signal:*,task:*' sleep 0.1 >/dev/null 2>&1 ||
	skip "perf cannot record tracepoints"
perf record -q -o c.data -e 'raw_syscalls:*,syscalls:sys_*_openat,syscalls:sys_*_execve' sh -c 'ls >/dev/null' \
	>/dev/null 2>&1 || skip "perf cannot record calls"
text() {	# DIR: perf's names of fields that begin with two underscores lose one
	babeltrace2 "$1" 2>err | sed 's/ __syscall_nr/ _syscall_nr/g; s/(+[^)]*)//' | LC_ALL=C sort
	[ ! -s err ] || fail "$1: $(cat err)"
}
other=' perf_(comm|fork|exit|mmap2?): '
for name in a b c; do
	for all in "" --all; do
		rm -rf theirs.ctf ours.ctf
		perf data convert --to-ctf theirs.ctf $all -i $name.data >/dev/null 2>&1 || skip "perf has no CTF"
		tacho data convert --to-ctf ours.ctf $all -i $name.data 2>/dev/null
		text theirs.ctf >theirs
		text ours.ctf >ours
		[ -s ours ] || fail "nothing: $name"
		# records that tacho knows to be later than perf does keep their time
		grep -vE "$other" theirs >theirs.samples
		grep -vE "$other" ours >ours.samples
		cmp theirs.samples ours.samples || fail "$name $all: $(diff theirs.samples ours.samples | head -n 6)"
		[ "$(grep -cE "$other" theirs)" = "$(grep -cE "$other" ours)" ] || fail "$name $all: other records"
	done
done
