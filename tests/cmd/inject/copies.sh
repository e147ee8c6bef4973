# A copy has the samples of the original, as a file and as a stream, and the build IDs that were added.
. "$SUPPORT/lib.sh"
need perf python3
perf record -q -z -e cpu-clock -F 1999 -g -o packed.data -- ls -R /usr/share/doc >/dev/null 2>&1 ||
	skip "perf cannot record compressed here"
tacho script -i packed.data >wanted
[ -s wanted ] || skip "no samples were recorded"

tacho inject -b -i packed.data -o file.data
tacho inject -b -i packed.data >stream.data
tacho inject -i - <stream.data >again.data
for copy in file stream again; do
	tacho script -i $copy.data >ours
	cmp wanted ours || fail "$copy.data has other samples"
	perf script --no-inline -i $copy.data >theirs 2>/dev/null || fail "perf does not read $copy.data"
	[ "$(grep -c cpu-clock: theirs)" = "$(grep -c cpu-clock: wanted)" ] ||
		fail "perf finds other samples in $copy.data"
done
for copy in file stream; do
	tacho buildid-list -i $copy.data | grep -q ' /.*/libc.so.6$' || fail "no build id in $copy.data"
	perf buildid-list -i $copy.data 2>/dev/null | grep -q '^[0-9a-f]\{40\} /.*/libc.so.6$' ||
		fail "perf finds no build id in $copy.data"
done

at=$(tacho script -i file.data --header-only | sed -n 's/^# data offset *: //p')
head -c $((at + 1000)) file.data >cut.data	# in the middle of the records
[ "$(status_of tacho inject -i cut.data -o part.data)" = 1 ] || fail "damage passed as fine"
tacho script -i part.data >part || fail "what was copied before the damage is not readable"
[ "$(status_of tacho inject -i file.data -o file.data)" = 1 ] || fail "a file was written over itself"

# Of another byte order, which is refused before anything is written: no empty file is left.
python3 - <<'END'
import struct
attr = struct.pack('>IIQQQQ', 1, 128, 0, 1000, 1, 0) + bytes(88)
with open('swapped.data', 'wb') as f:
	f.write(b'PERFILE2'[::-1] + struct.pack('>12Q', 104, 144, 104, 144, 248, 0, 0, 0, 0, 0, 0, 0))
	f.write(attr + struct.pack('>QQ', 248, 0))
END
refused 1 tacho inject -i swapped.data -o none.data
[ ! -e none.data ] || fail "an empty file is left"
