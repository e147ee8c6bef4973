# data convert --to-ctf has the events of perf's, with the same values.
# run: slow
. "$SUPPORT/lib.sh"
need perf babeltrace2 python3
need_root
need_tracefs
perf record -q -g -o a.data -e cpu-clock,page-faults -F 1999 sh -c 'ls -R /usr/share/doc >/dev/null' >/dev/null 2>&1 ||
	skip "perf cannot record here"
# Of a busy machine some are lost, which perf's does not tell.
for try in 1 2 3 4 5; do
	perf record -q -a -m 4M -o b.data -e 'sched:*,irq:*,timer:*,signal:*,task:*' sleep 0.1 >/dev/null 2>&1 ||
		skip "perf cannot record tracepoints"
	perf report -i b.data --stats 2>/dev/null | grep -q ' LOST' || break
done
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
# Losses are told as they happen, and once more at the end: each counts once. A packet says how many of its
# stream were lost until then; babeltrace2 reports those after the first one.
tacho record -q -m 1 -e raw_syscalls:sys_enter -o lost.data dd if=/dev/zero of=/dev/null bs=1 count=100000 2>/dev/null
lost=$(tacho report --stdio -i lost.data 2>/dev/null | sed -n 's/^# Total Lost Samples: //p')
[ "$lost" -gt 0 ] || skip "nothing was lost"
tacho data convert --to-ctf lost.ctf -i lost.data 2>/dev/null
told=$(babeltrace2 lost.ctf 2>&1 >/dev/null | sed -n 's/.*Tracer discarded \([0-9]*\) event.*/\1/p' |
	awk '{ n += $1 } END { print n + 0 }')
python3 - "$lost" "$told" <<'END'
import glob, struct, sys
lost, told = map(int, sys.argv[1:])
first = last = 0
for path in glob.glob("lost.ctf/perf_stream_*"):
    stream, at, seen = open(path, "rb").read(), 0, []
    while at < len(stream):
        bits, discarded = struct.unpack_from("<QQ", stream, at + 48)
        seen.append(discarded)
        at += bits // 8
    assert seen == sorted(seen), seen
    first, last = first + seen[0], last + seen[-1]
assert last == lost, f"{last} of {lost} lost are in the packets"
assert told == lost - first, f"babeltrace2 tells of {told}, {first} of {lost} are in the first packets"
END
