# data convert --to-ctf: babeltrace2 reads it.
. "$SUPPORT/lib.sh"
need babeltrace2
export TZ=UTC
"$TEST_BIN/make-samples" memory a.data
"$TEST_BIN/make-samples" bpf bpf.data
"$TEST_BIN/make-samples" clock clock.data "$TEST_BIN/touch-pages"
for name in a bpf clock; do
	tacho data convert --to-ctf $name -i $name.data 2>said
	grep -q '(12 samples) \]$' said || fail "$(cat said)"
	ls $name
	babeltrace2 $name >text 2>err
	[ ! -s err ] || fail "$(cat err)"
	[ "$(wc -l <text)" = 12 ] || fail "$(cat text)"
	head -n 2 text
done
tacho data convert --force --tod --all --to-ctf clock -i clock.data 2>said
grep -q '(12 samples, 2 non-samples) \]$' said || fail "$(cat said)"
babeltrace2 clock | grep -v perf_mmap2 | head -n 2

refused 1 tacho data convert --to-ctf a -i bpf.data
babeltrace2 a | cmp - text >/dev/null && fail "a refused conversion wrote"
refused 1 tacho data convert --tod --to-ctf tod -i a.data
[ ! -e tod ] || fail "a refused conversion left its directory"
refused 1 tacho data convert --to-ctf no/where -i a.data
touch plain
refused 1 tacho data convert --force --to-ctf plain -i a.data
# what else lies in a directory stays
mkdir own
touch own/mine own/perf_stream_7
tacho data convert --force --to-ctf own -i a.data 2>/dev/null
[ -e own/mine ] && [ ! -e own/perf_stream_7 ] || fail "$(ls own)"
