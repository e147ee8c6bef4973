# --mmap2-buildid-all puts build IDs into all mmap records, -B removes those of objects without samples; both leave the
# samples as they are, in files and streams. -v lists the objects.
. "$SUPPORT/lib.sh"
need python3 cc
echo 'int main(void) { volatile long x = 0; for (long i = 0; i < 30000000; i++) x += i; return 0; }' >w.c
cc -O1 -Wl,--build-id -o w w.c
tacho record -q -e cpu-clock:u -F 2000 -o new.data ./w 2>err || skip "cannot record here: $(cat err)"
# as an older kernel would write it: MMAP2 records with device and inode, MMAP records
python3 - <<'P'
import struct
data = bytearray(open("new.data", "rb").read())
start, size = struct.unpack_from("<2Q", data, 40)
at = start
while at < start + size:
    kind, misc, n = struct.unpack_from("<IHH", data, at)
    if kind == 10 and misc & 1 << 14:
        struct.pack_into("<H", data, at + 4, misc & ~(1 << 14))
        data[at + 40:at + 64] = struct.pack("<IIQQ", 8, 1, 1234, 0)
    at += n
open("old.data", "wb").write(data)
P
maps() { tacho script -i "$1" --show-mmap-events -F comm,pid,time,event,ip,sym 2>/dev/null | grep -a PERF_RECORD_MMAP; }
maps old.data | grep -q '08:01 1234 0\]: r-xp .*/w$' || skip "this recorder writes no MMAP2 records"
tacho script -i old.data -F comm,tid,time,period,ip,sym,dso >wanted
tacho inject --mmap2-buildid-all -i old.data -o all.data
tacho inject -B -v -i old.data -o used.data 2>said
tacho inject -B <old.data >used.stream
tacho inject --mmap2-buildid-all <old.data >all.stream
id=$(tacho buildid-list -i ./w)
for copy in all.data used.data all.stream used.stream; do
	tacho script -i $copy -F comm,tid,time,period,ip,sym,dso >ours
	cmp wanted ours || fail "$copy has other samples"
	maps $copy >list
	grep -q "MMAP2 .*<$id>\]: r-xp .*/w\$" list || fail "$copy: no build ID: $(cat list)"
	! grep '08:01 1234' list || fail "$copy: an object without its build ID"
done
[ "$(maps all.data | wc -l)" = "$(maps old.data | wc -l)" ] || fail "records are lost"
[ "$(maps used.data)" = "$(maps used.stream)" ] || fail "a stream has other records"
[ "$(maps all.data)" = "$(maps all.stream)" ] || fail "a stream has other records"
maps all.data | grep -q '/ld-linux' || fail "the loader is not mapped"
maps used.data | grep -v -e '/w$' -e '\[kernel' -e '/libc' -e '/ld-linux' -e anon && fail "unused objects are left" || true
[ "$(maps used.data | wc -l)" -lt "$(maps all.data | wc -l)" ] || fail "nothing was removed"
grep -q "^tacho inject: $id /.*/w\$" said || fail "$(cat said)"
grep -q "^tacho inject: [1-9][0-9]* mmap records got a build ID, [1-9][0-9]* were removed\$" said || fail "$(cat said)"
refused 129 tacho inject -B --mmap2-buildid-all -i old.data -o x.data
refused 1 tacho inject -B -i nothing.data -o x.data
[ ! -e x.data ] || fail "a refused copy left its file"
