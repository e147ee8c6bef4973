# Attrs that are longer than the ones known here are copied, unless what is not known is in use.
. "$SUPPORT/lib.sh"
need python3
python3 - <<'END'
import struct
def file(name, last):
	attr = struct.pack('<IIQQQQ', 1, 160, 0, 1000, 7, 0) + bytes(112) + struct.pack('<Q', last)
	with open(name, 'wb') as f:
		f.write(b'PERFILE2' + struct.pack('<12Q', 104, 176, 104, 176, 280, 32, 0, 0, 0, 0, 0, 0))
		f.write(attr + struct.pack('<QQ', 280, 0))
		f.write(struct.pack('<IHHQIIQ', 9, 2, 32, 0x1000, 7, 7, 1000000000))
file('longer.data', 0)
file('newer.data', 1)
END
tacho inject -i longer.data -o out.data
[ "$(tacho script -i out.data -F tid,time,ip)" = "$(tacho script -i longer.data -F tid,time,ip)" ] ||
	fail "$(tacho script -i out.data)"
refused 1 tacho inject -i newer.data -o new.data
tacho inject -i newer.data -o new.data 2>err || true
grep -q 'newer kernel' err || fail "$(cat err)"
