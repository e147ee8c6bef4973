# --min omits narrower boxes; with 0 all boxes are drawn.
. "$SUPPORT/lib.sh"
need python3
python3 - <<'END'
import struct
def comm(pid, name):
	return struct.pack('<IHHII16s', 3, 0, 32, pid, pid, name)
def sample(pid, period):
	return struct.pack('<IHHQIIQQ', 9, 2, 40, 0x1000, pid, pid, 1000000000, period)
attr = struct.pack('<IIQQQQ', 1, 128, 0, 1000, 1 | 2 | 4 | 256, 0) + bytes(88)
data = comm(7, b'large') + comm(8, b'tiny') + sample(7, 1000000000) + sample(8, 1)
with open('perf.data', 'wb') as f:
	f.write(b'PERFILE2' + struct.pack('<12Q', 104, 144, 104, 144, 248, len(data), 0, 0, 0, 0, 0, 0))
	f.write(attr + struct.pack('<QQ', 248, 0) + data)
END
drawn() { tacho flame -q -o - "$@" | grep -o '<title>[a-z]*$' | tr -d '\n'; }
[ "$(drawn)" = '<title>all<title>large' ] || fail "by default: $(drawn)"
[ "$(drawn --min 0)" = '<title>all<title>large<title>tiny' ] || fail "--min 0: $(drawn --min 0)"
[ "$(drawn --min 0.0000001)" = "$(drawn --min 0)" ] || fail "a small one: $(drawn --min 0.0000001)"
for bad in -1 nan x ''; do
	refused 129 tacho flame -o - "--min=$bad"
done
