# data convert --to-json: perf's format; existing files are not overwritten; of a damaged file the samples before the damage are converted.
. "$SUPPORT/lib.sh"
need jq
"$TEST_BIN/make-samples" faults a.data "$TEST_BIN/touch-pages"
tacho data convert --to-json a.json -i a.data 2>said
grep -q "^\[ tacho data convert: Converted 'a.data' into JSON data 'a.json' \]$" said || fail "$(cat said)"
grep -q '(12 samples) \]$' said || fail "$(cat said)"
jq -e '."linux-perf-json-version" == 1 and (.samples | length) == 12' a.json >/dev/null || fail "shape"
jq -e '.headers | has("captured-on") and has("hostname") and .arch == "x86_64"' a.json >/dev/null || fail "headers"
jq -e '.samples[0] | .timestamp == 5000000000 and .pid == 1234 and .cpu == 0 and .comm == "made"' a.json \
	>/dev/null || fail "$(jq -c '.samples[0]' a.json)"
jq -e '.samples[0].callchain | length == 1 and .[0].ip == "0x401130"' a.json >/dev/null ||
	fail "$(jq -c .samples[0].callchain a.json)"
jq -e '[.samples[].callchain[] | select(.symbol) | .dso] | unique == ["touch-pages"]' a.json >/dev/null ||
	fail "no symbols of the object"

refused 1 tacho data convert --to-json a.json -i a.data
cp a.json before
tacho data convert --force --to-json a.json -i a.data 2>/dev/null
cmp before a.json || fail "the second one differs"
[ "$(status_of tacho data convert --to-json - -i a.data)" = 0 ] || fail "to stdout: $(cat err)"
cmp before out && grep -q "into JSON data '-' \]$" err || fail "stdout has another JSON: $(cat err)"
[ "$(tacho data convert --to-json - -i a.data 2>/dev/null | jq '.samples | length')" = 12 ] || fail "a pipe"
[ ! -e - ] || fail "a file of the name -"
refused 129 tacho data convert --to-ctf - -i a.data
# --time selects samples: all of them, the first, none; and says how many were left out.
tacho data convert --to-json all.json -i a.data --time 5.0,100 2>said
cmp a.json all.json || fail "--time of everything"
tacho data convert --to-json first.json -i a.data --time ,5.0 2>said
jq -e '[.samples[].timestamp] == [5000000000]' first.json >/dev/null || fail "$(jq -c '[.samples[].timestamp]' first.json)"
grep -q '(1 samples, 11 skipped) \]$' said || fail "$(cat said)"
tacho data convert --to-json none.json -i a.data --time 100,200 2>said
jq -e '.samples == []' none.json >/dev/null || fail "samples of another time"
refused 1 tacho data convert --to-json bad.json -i a.data --time yesterday
[ ! -e bad.json ] || fail "a refused conversion left its file"
refused 129 tacho data
refused 129 tacho data frobnicate
refused 129 tacho data convert -i a.data
refused 129 tacho data convert --to-json b.json --to-ctf b -i a.data
refused 129 tacho data convert --to-json b.json --all -i a.data
refused 129 tacho data convert --to-json b.json --tod -i a.data
refused 129 tacho data convert --to-json b.json -i a.data word
refused 1 tacho data convert --to-json b.json -i nothing.data
[ ! -e b.json ] || fail "a refused conversion left its file"
refused 1 tacho data convert --to-json no/where.json -i a.data
refused 1 tacho data convert --to-json /dev/full --force -i a.data

size=$(wc -c <a.data)
for cut in 500 800 $((size / 2)) $((size - 10)); do
	head -c $cut a.data >cut.data
	rm -f cut.json
	status_of tacho data convert --to-json cut.json -i cut.data >status
	[ "$(cat status)" -le 1 ] || fail "cut at $cut: status $(cat status)"
	[ ! -e cut.json ] || jq -e '.samples | length <= 12' cut.json >/dev/null || fail "cut at $cut: no JSON"
done
