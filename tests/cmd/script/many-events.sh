# A file may promise any number of events; what each of them needs must not grow with the others.
# run: both
. "$SUPPORT/lib.sh"
need python3
python3 - <<'END'
import struct
N, ENTRY = 200000, 144
attr = struct.pack('<IIQQQQ', 1, 128, 0, 1000, 7, 0) + bytes(88)
ids = 104 + N * ENTRY
with open('perf.data', 'wb') as f:
	f.write(b'PERFILE2' + struct.pack('<12Q', 104, ENTRY, 104, N * ENTRY, ids, 32, 0, 0, 0, 0, 0, 0))
	f.write((attr + struct.pack('<QQ', ids, 0)) * N)
	f.write(struct.pack('<IHHQIIQ', 9, 2, 32, 0x1000, 7, 7, 1000000000))
END
(ulimit -t 20 && tacho script -F tid,event >out) || fail "status $?"
grep -q '7 .*cpu-clock' out || fail "$(head -3 out)"
