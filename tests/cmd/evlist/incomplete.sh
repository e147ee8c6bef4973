# A recording with a part missing is listed as far as possible, but the loss is reported and the status is 1: a stream
# that ends within its attrs or its records, and a directory without one of its files. A complete file without
# features is not mistaken for one of a killed recorder.
. "$SUPPORT/lib.sh"
need python3
tacho record -q -e cpu-clock -o - -- true >stream || skip "cannot record here"
tacho record -q -e cpu-clock -o file -- true
for n in 100 170 $(($(wc -c <stream) - 4)); do
	head -c "$n" stream >cut
	[ "$(status_of tacho evlist -i cut)" = 1 ] || fail "cut at $n: status 0"
	grep -q '^tacho evlist: byte [0-9]*: the file ends within' err || fail "cut at $n: $(cat err)"
	[ "$(tacho evlist -i - <cut 2>&1 >/dev/null)" = "$(cat err)" ] || fail "a pipe is read otherwise than a file"
done
tacho evlist -i - <stream >out || fail "a complete stream is refused"
[ "$(head -n 1 out)" = cpu-clock ] || fail "$(cat out)"

python3 - <<'P'
import os, struct
whole = bytearray(open("file", "rb").read())
data, size = struct.unpack_from("<2Q", whole, 40)
plain = bytearray(whole[:data + size])
plain[72:104] = bytes(32)
plain[data - 1] ^= 1		# the mark of our writer
open("plain", "wb").write(plain)
# a directory: the feature DIR_FORMAT, and no data in `data` itself
bits = int.from_bytes(whole[72:104], "little")
sections, at = [], data + size
for f in range(256):
    if bits >> f & 1:
        sections.append((f, *struct.unpack_from("<2Q", whole, at)))
        at += 16
payload = [(f, bytes(whole[o:o + n])) for f, o, n in sections] + [(24, struct.pack("<Q", 1))]
payload.sort()
head = bytearray(whole[:data + size])
head[72:104] = sum(1 << f for f, _ in payload).to_bytes(32, "little")
at = data + size + 16 * len(payload)
for _, p in payload:
    head += struct.pack("<2Q", at, len(p))
    at += len(p)
for _, p in payload:
    head += p
os.mkdir("dir")
open("dir/data", "wb").write(head)
P
tacho evlist -i plain >out 2>err || fail "$(cat err)"
[ ! -s err ] || fail "a complete file without features: $(cat err)"
[ "$(head -n 1 out)" = cpu-clock ] || fail "$(cat out)"
for command in evlist "report --stdio" script; do
	# shellcheck disable=SC2086
	[ "$(status_of tacho $command -i dir)" = 1 ] || fail "$command: no data.0, but status 0"
	grep -q "dir/data.0 is missing" err || fail "$command: $(cat err)"
done
touch dir/data.0 dir/data.2
[ "$(status_of tacho evlist -i dir)" = 1 ] || fail "no data.1, but status 0"
grep -q "dir/data.1 is missing" err || fail "$(cat err)"
mv dir/data.2 dir/data.1
tacho evlist -i dir >out || fail "a complete directory is refused"
