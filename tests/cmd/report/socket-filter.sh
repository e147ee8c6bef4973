# --socket-filter counts the samples of one socket's CPUs, as perf does. The topology in the recording is changed so that the
# second CPU has a socket of its own.
# run: alone
. "$SUPPORT/lib.sh"
need perf python3 taskset jq
need_root
need_tracefs
[ "$(nproc)" -ge 2 ] && taskset -c 0 true && taskset -c 1 true || skip "needs CPUs 0 and 1"
cp "$TEST_BIN/calls" first
cp "$TEST_BIN/calls" second
perf record -q --sample-cpu -c 1 -e syscalls:sys_enter_getpid -o one.data \
	sh -c 'taskset -c 0 ./first ggggg; taskset -c 1 ./second ggg' 2>err ||
	skip "cannot record tracepoints here: $(cat err)"
cat >move.py <<'P'
import struct
d = bytearray(open("one.data", "rb").read())
start, size = struct.unpack_from("<QQ", d, 40)
bits = int.from_bytes(d[72:104], "little")
at, sections = start + size, {}
for feature in range(256):
    if bits >> feature & 1:
        sections[feature] = struct.unpack_from("<Q", d, at)[0]
        at += 16
at = sections[13]                       # the topology: two lists of texts, then core and socket per CPU
for _ in range(2):
    n = struct.unpack_from("<I", d, at)[0]
    at += 4
    for _ in range(n):
        at += 4 + struct.unpack_from("<I", d, at)[0]
for cpu in range(struct.unpack_from("<I", d, sections[7])[0]):
    struct.pack_into("<I", d, at + 8 * cpu + 4, 1 if cpu == 1 else 0)
open("two.data", "wb").write(d)
P
python3 move.py
of() {	# COMMAND OPTION...: only the two programs; the shell may be on any CPU
	of_command=$1
	shift
	"$of_command" report --stdio -i two.data -n "$@" </dev/null 2>err | grep -v -e 'Tip:' |
		grep -e '^#' -e first -e second || true
}
for socket in 0 1; do
	for keys in comm cpu,socket,comm socket,comm,sym; do
		of perf -s $keys --socket-filter $socket | sed '/Command/,/^#/{/\.\.\.\./d;s/ *$//}' >theirs
		of tacho -s $keys --socket-filter $socket | sed '/Command/,/^#/{/\.\.\.\./d;s/ *$//}' >ours
		grep -q "^# Processor Socket: $socket\$" ours || fail "the heading does not mention it"
		diff theirs ours || fail "not the same: socket $socket by $keys"
	done
done
samples() { tacho report -i two.data -s comm --json -c first,second "$@" | jq -c '[.events[0].entries[] | .samples]'; }
[ "$(samples)" = '[5,3]' ] || fail "not recorded: $(samples)"
[ "$(samples --socket-filter 0)" = '[5]' ] || fail "socket 0: $(samples --socket-filter 0)"
[ "$(samples --socket-filter 1)" = '[3]' ] || fail "socket 1: $(samples --socket-filter 1)"
[ "$(samples --socket-filter 1 --percentage relative)" = '[3]' ]
tacho report -i two.data -s comm --json -c second --socket-filter 1 --percentage relative |
	jq -e '.events[0].entries[0].self_percent == 100' >json || fail "$(cat json)"
refused 129 tacho report -i two.data --socket-filter 2
refused 129 tacho report -i two.data --socket-filter x
refused 129 tacho report -i two.data --socket-filter -1
perf record -q -c 1 -e page-faults -o bare.data ./first g
refused 129 tacho report -i bare.data --socket-filter 0
grep -q 'on which CPU' err || fail "$(cat err)"
