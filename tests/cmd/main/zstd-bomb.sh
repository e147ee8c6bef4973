# A small file that expands to hundreds of millions of records is refused early; what was read until then is shown.
# run: plain
. "$SUPPORT/lib.sh"
need python3 zstd
cat >make.py <<'PY'
import struct, subprocess, sys
def record(kind, misc, body):
    return struct.pack("<IHH", kind, misc, 8 + len(body)) + body
def make(path, one, total):
    """A recording with `total` bytes of equal records."""
    attr = bytearray(136)
    struct.pack_into("<IIQQQQQ", attr, 0, 1, len(attr), 0, 1000, 4 | 1024, 0, 1 << 18)
    z = subprocess.Popen(["zstd", "-19", "-c", "--no-check", "-q"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    def feed():
        block = one * max(1, (1 << 20) // len(one))
        for _ in range(total // len(block)):
            z.stdin.write(block)
        z.stdin.close()
    import threading
    t = threading.Thread(target=feed)
    t.start()
    small = z.stdout.read()
    t.join()
    data = b"".join(record(81, 0, small[i:i + 65000]) for i in range(0, len(small), 65000))
    entry = 104 + len(attr) + 16
    compressed = struct.pack("<IIIII", 1, 1, 1, 10, 528384)
    head = bytearray(struct.pack("<8s8Q", b"PERFILE2", 104, len(attr) + 16, 104, len(attr) + 16, entry, len(data), 0, 0))
    head += bytes([0, 0, 0, 1 << 3]) + bytes(28)		# the feature COMPRESSED
    table = struct.pack("<QQ", entry + len(data) + 16, len(compressed))
    open(path, "wb").write(bytes(head) + attr + bytes(16) + data + table + compressed)
small = record(9, 2, struct.pack("<QI", 1000, 4) + bytes(4))
large = record(9, 2, struct.pack("<QI", 1000, 65000 - 28) + bytes(65000 - 28))
make("records.data", small, 160 << 20)
make("bytes.data", large, 640 << 20)
PY
python3 make.py
refuses() {	# FILE WORDS...: needs less than 700 MB, and tells why
	refuses_file=$1
	shift
	(ulimit -v 900000 && tacho "$@" -i "$refuses_file" >out 2>err) && fail "accepted: $*"
	grep -q 'byte [0-9]*: [0-9]* bytes of compressed data expand to more than [0-9]* bytes with [0-9]* records' err ||
		fail "$*: $(cat err)"
}
for file in records.data bytes.data; do
	[ "$(wc -c <$file)" -lt 200000 ] || fail "$file has $(wc -c <$file) bytes"
	refuses $file report --stdio
	grep -q '^# Samples: ' out || fail "nothing was shown: $(cat out)"
	refuses $file export -f chrome -o out.json
	refuses $file heatmap -o out.svg
	refuses $file script -F time
done
