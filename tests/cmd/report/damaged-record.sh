# A record that is too short for its type is skipped; the warning has its offset and type. The records after it
# are shown.
. "$SUPPORT/lib.sh"
need python3
tacho record -q -e cpu-clock:u -F 2000 -o whole.data -- "$TEST_BIN/burn" -t 1 -m 200 >/dev/null
cat >shorten.py <<'END'
import struct, sys
d = bytearray(open('whole.data', 'rb').read())
at, size = struct.unpack_from('<QQ', d, 40)
end = at + size
while at < end and struct.unpack_from('<I', d, at)[0] != 10:
	at += struct.unpack_from('<H', d, at + 6)[0]
whole = struct.unpack_from('<H', d, at + 6)[0]
struct.pack_into('<IHHQ', d, at, 10, 2, 16, 0)			# an MMAP2 record of 16 bytes, and one
struct.pack_into('<IHH', d, at + 16, 200, 0, whole - 16)	# of an unknown type
open('damaged.data', 'wb').write(d)
print('%#x' % at)
END
at=$(python3 shorten.py)
tacho report -i damaged.data -s comm >out 2>err || fail "not read to the end: $(cat err)"
grep -q '%.*burn' out || fail "the samples after the record are missing"
grep -q "^tacho report: 1 damaged record was skipped, the first at offset $at: MMAP2 (10) of 16 bytes$" err ||
	fail "$(cat err)"
tacho report -i whole.data -s comm 2>err >/dev/null
[ ! -s err ] || fail "a warning about a good recording: $(cat err)"
