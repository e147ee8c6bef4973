# tar and --unpack extract the same files from an archive; --all includes the recording.
. "$SUPPORT/lib.sh"
tacho check -q feature libarchive || skip "built without libarchive"
need tar bzip2 gzip
mkdir home there
export HOME="$PWD/home"
tacho record -q -e cpu-clock:u -o perf.data sh -c 'i=0; while [ $i -lt 20000 ]; do i=$((i + 1)); done' ||
	skip "cannot record here"
[ -n "$(tacho buildid-list)" ] || skip "the recording has no build ids"

tacho archive -o plain.tar >said 2>notes
grep -q '^Packed [0-9]* objects\? into plain.tar' said || fail "$(cat said notes)"
tar tf plain.tar >names
grep -q '^\.build-id/../[0-9a-f]*$' names || fail "$(cat names)"
grep -q '/elf$' names || fail "$(cat names)"
mkdir by-tar
tar xf plain.tar -C by-tar
HOME="$PWD/there" tacho archive --unpack plain.tar >said
grep -q '^Unpacked [1-9][0-9]* files into .*/there/.debug; 0 were there' said || fail "$(cat said)"
diff -r by-tar there/.debug || fail "tar and --unpack differ"
HOME="$PWD/there" tacho buildid-cache -l >listed
[ -s listed ] || fail "the cache has nothing"
HOME="$PWD/there" tacho archive --unpack plain.tar | grep -q '^Unpacked 0 files' || fail "unpacked twice"

# from the cache, when the files are gone or have changed
id=$(tacho buildid-list | head -n 1 | cut -d ' ' -f 1)
HOME="$PWD/there" tacho archive -o again.tar >/dev/null 2>&1
tar tf again.tar | grep -q "$id" || fail "not from the cache"
tacho buildid-list >ids
if tacho archive --exclude-buildids ids -o none.tar >said 2>&1; then
	fail "all are excluded"
fi
[ ! -e none.tar ] || fail "an archive of nothing"

# the default's name, gzip, and the recording along
tacho archive >/dev/null 2>&1
[ -s perf.data.tar.bz2 ] && tar tf perf.data.tar.bz2 >/dev/null || fail "no perf.data.tar.bz2"
tacho archive -o a.tar.gz >/dev/null 2>&1
tar tzf a.tar.gz >/dev/null || fail "no gzip"
tacho archive --all -o perf.all.tar.bz2 >/dev/null 2>&1
tar tf perf.all.tar.bz2 >names
[ "$(paste -sd ' ' names)" = "perf.data perf.symbols.tar.bz2" ] || fail "$(cat names)"
mkdir else
cp perf.all.tar.bz2 else
(cd else && HOME="$PWD" && tacho archive --unpack >said) || fail "$(cat else/said)"
cmp perf.data else/perf.data || fail "the recording differs"
diff -r by-tar else/.debug || fail "--all differs"
refused 1 sh -c 'cd else && HOME="$PWD" tacho archive --unpack'
(cd else && HOME="$PWD" tacho archive --unpack --force) >/dev/null || fail "--force does not"

refused 129 tacho archive a b
refused 129 tacho archive --unpack --all x.tar
refused 129 tacho archive -o archive.zip
refused 1 tacho archive nothing.data
refused 1 tacho archive --unpack nothing.tar
refused 1 tacho archive --unpack perf.data
refused 1 tacho archive -o no/where.tar
