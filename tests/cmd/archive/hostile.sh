# Archives with entries outside the cache, and damaged ones, are refused and write nothing outside of it.
. "$SUPPORT/lib.sh"
tacho check -q feature libarchive || skip "built without libarchive"
need python3
mkdir home
export HOME="$PWD/home"
cat >make.py <<'END'
import io, sys, tarfile
def make(path, *entries):
    with tarfile.open(path, "w", format=tarfile.GNU_FORMAT) as t:
        for name, kind, value in entries:
            info = tarfile.TarInfo(name)
            info.type = kind
            if kind == tarfile.REGTYPE:
                info.size = len(value)
                t.addfile(info, io.BytesIO(value))
            else:
                info.linkname = value
                t.addfile(info)
F, S, L, D, C = tarfile.REGTYPE, tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.DIRTYPE, tarfile.CHRTYPE
make("up.tar", ("a/../../escaped", F, b"x"))
make("root.tar", ("/tmp/escaped-by-archive-test", F, b"x"))
make("link.tar", ("usr/x", S, "../../escaped"))
make("id.tar", (".build-id/aa/bb", S, "../../../escaped"))
make("other-id.tar", (".build-id/aa/bb", S, "../../usr/x/aabc"))
make("no-id.tar", (".build-id/aa/bb", S, "../../usr/x"))
make("top-id.tar", (".build-id/aa/bb", S, "../../aabb"))
make("self-id.tar", (".build-id/aa/bb", S, "../../.build-id/aabb"))
make("name-id.tar", (".build-id/aa/b.", S, "../../usr/x/aab."))
make("short-id.tar", (".build-id/aa", S, "../../usr"))
make("deep-id.tar", (".build-id/aa/bb/cc", S, "../../usr"))
make("dots-id.tar", (".build-id/./bb", S, "../../usr"))
make("through.tar", (".build-id/aa/bb", S, "../../usr/x/aabb"), (".build-id/aa/bb/escaped", F, b"x"))
make("hard.tar", ("usr/x", L, "/etc/passwd"))
make("device.tar", ("usr/null", C, ""))
make("good.tar", ("usr/" + "n" * 200 + "/aabb/elf", F, b"elf" * 1000), (".build-id/aa/bb", S, "../../usr/" + "n" * 200 + "/aabb"))
def make_all(path, name, content, *more):
    make("perf.symbols.tar", ("usr/y/aabb/elf", F, b"elf"))
    make(path, (name, F, content), *more, ("perf.symbols.tar", F, open("perf.symbols.tar", "rb").read()))
recording = b"PERFILE2" + b"x" * 100
make_all("all.tar", "slow.data.old", recording)
make_all("all-profile.tar", ".profile", recording)
make_all("all-dash.tar", "-rf.data", recording)
make_all("all-escape.tar", "x\x1b[2J.data", recording)
make_all("all-text.tar", "perf.data", b"#!/bin/sh\n")
make_all("all-two.tar", "a.data", recording, ("b.data", F, recording))
make_all("all-path.tar", "a.data", recording, ("a/../b.data", F, recording))
with tarfile.open("sparse.tar", "w", format=tarfile.PAX_FORMAT) as t:
    info = tarfile.TarInfo("usr/x/aabb/elf")
    info.size = 3
    info.pax_headers = {"GNU.sparse.major": "0", "GNU.sparse.minor": "1", "GNU.sparse.size": str(1 << 50),
                        "GNU.sparse.map": "0,3"}
    t.addfile(info, io.BytesIO(b"elf"))
with tarfile.open("huge.tar", "w", format=tarfile.GNU_FORMAT) as t:
    info = tarfile.TarInfo("usr/x/aabb/elf")
    info.size = 1 << 50
    t.addfile(info)
with tarfile.open("pax.tar", "w", format=tarfile.PAX_FORMAT) as t:
    info = tarfile.TarInfo("usr/" + "p" * 200 + "/aabb/elf")
    info.size = 3
    t.addfile(info, io.BytesIO(b"elf"))
whole = open("good.tar", "rb").read()
open("cut.tar", "wb").write(whole[:1700])
open("sum.tar", "wb").write(b"X" + whole[1:])
END
python3 make.py
ln -s "$PWD" outside
for name in up root link id other-id no-id top-id self-id name-id short-id deep-id dots-id sparse huge through hard device cut sum; do
	refused 1 tacho archive --unpack $name.tar
done
[ ! -e escaped ] && [ ! -e home/escaped ] && [ ! -e /tmp/escaped-by-archive-test ] || fail "it got out"
[ ! -e home/.debug/usr/escaped ] || fail "a link was followed"
[ ! -e home/.debug/.build-id/aa/bb ] || [ "$(readlink home/.debug/.build-id/aa/bb)" = ../../usr/x/aabb ] || fail "a link leads out"
rm -rf home/.debug/.build-id
[ -z "$(find home -name elf)" ] || fail "half a file was left"
tacho archive --unpack good.tar
tacho archive --unpack pax.tar
[ "$(find home -name elf | wc -l)" = 2 ] || fail "$(find home)"
[ "$(wc -c <home/.debug/.build-id/aa/bb/elf)" = 3000 ] || fail "the long name's link"
# the recording of an archive of --all: it must be one, and gets a name that recordings have
unpack_all() {	# ARCHIVE NAME: unpacked in a new directory, the recording is called NAME
	mkdir "in-$1"
	(cd "in-$1" && tacho archive --unpack "../$1.tar" >said) || fail "$1 was refused"
	grep -q "^The recording is $2\.$" "in-$1/said" || fail "$1: $(cat "in-$1/said")"
	rm "in-$1/said"
	[ "$(ls -A "in-$1")" = "$2" ] || fail "$1: $(ls -A "in-$1")"
}
unpack_all all slow.data.old
for name in profile dash escape; do
	unpack_all all-$name perf.data
done
mkdir none
cd none
for name in text two path; do
	refused 1 tacho archive --unpack ../all-$name.tar
	rm -f a.data out err
	[ -z "$(ls -A)" ] || fail "all-$name left $(ls -A)"
done
echo mine >perf.data
refused 1 tacho archive --unpack ../all-profile.tar
refused 1 tacho archive --unpack --force ../all-text.tar
[ "$(cat perf.data)" = mine ] || fail "a file was overwritten"
tacho archive --unpack --force ../all-profile.tar >/dev/null
[ "$(head -c 8 perf.data)" = PERFILE2 ] || fail "--force does not overwrite"
cd ..
# random damage: no crash, no hang
python3 - <<'END'
import random
random.seed(7)
whole = open("good.tar", "rb").read()
for i in range(60):
    b = bytearray(whole)
    for _ in range(random.randint(1, 8)):
        b[random.randrange(min(len(b), 6000))] = random.randrange(256)
    open("r%d.tar" % i, "wb").write(b[:random.randint(1, len(b))])
END
i=0
while [ $i -lt 60 ]; do
	status_of tacho archive --unpack r$i.tar >status
	[ "$(cat status)" -le 1 ] || fail "r$i: status $(cat status)"
	i=$((i + 1))
done
