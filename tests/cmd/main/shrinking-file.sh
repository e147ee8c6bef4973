# A recording that is truncated while it is read gives a message, not SIGBUS.
. "$SUPPORT/lib.sh"
need python3 truncate
python3 - <<'PY'
import struct
SAMPLES = 200000
attr = bytearray(136)
struct.pack_into("<IIQQQQQ", attr, 0, 1, len(attr), 0, 1000, 1 | 2 | 4 | 32, 0, 1 << 18)
chain = struct.pack("<4Q", 3, 0xfffffffffffffe00, 0x400100, 0x400200)
data = b"".join(struct.pack("<IHHQIIQ", 9, 2, 64, 0x400100, 7, 7, 1000 + i) + chain for i in range(SAMPLES))
entry = 104 + len(attr) + 16
head = struct.pack("<8s8Q", b"PERFILE2", 104, len(attr) + 16, 104, len(attr) + 16, entry, len(data), 0, 0) + bytes(32)
open("whole.data", "wb").write(head + attr + bytes(16) + data)
PY
# The command fills the pipe and waits; what it has not printed by then is gone when it goes on.
while_printing() {	# WORDS...
	cp whole.data some.data
	{
		printing_status=0
		tacho "$@" -i some.data 2>err || printing_status=$?
		echo $printing_status >status
	} | {
		head -c 1000 >/dev/null
		truncate -s 100000 some.data
		cat >/dev/null
	}
	[ "$(cat status)" = 1 ] || fail "status $(cat status): $*: $(cat err)"
	grep -q '^tacho.*: some.data became shorter while it was being read$' err || fail "$*: $(cat err)"
}
while_printing script -F ip,sym,time
while_printing script -D
while_printing script --json
while_printing inject
# Commands that print at the end: whenever the file shrinks, they end by themselves.
for delay in 0 0.01 0.03 0.1; do
	for command in "report --stdio" "report --stats" "export -f folded -o folded" "data convert --to-json json --force"; do
		cp whole.data some.data
		tacho $command -i some.data >out 2>err &
		sleep $delay
		truncate -s 50000 some.data
		at_once_status=0
		wait $! || at_once_status=$?
		[ $at_once_status -le 1 ] || fail "status $at_once_status: $command: $(cat err)"
		[ $at_once_status = 0 ] || grep -q '^tacho ' err || fail "no message: $command"
	done
done
