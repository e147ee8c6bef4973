# Forms of the output, and what is refused.
. "$SUPPORT/lib.sh"
cp "$TEST_BIN/hot" here
tacho record -q -e cpu-clock:u -F 2000 -o hot.data ./here 2>err || skip "cannot record here: $(head -n 1 err)"
tacho annotate -i hot.data --json spin >out
python3 - <<'P'
import json
d = json.load(open('out'))
assert d['schema'] == 'tacho.annotate/1', d['schema']
(f,) = d['functions']
assert f['symbol'] == 'spin' and f['object'].endswith('/here')
total = sum(line['samples'][0] for line in f['lines'])
assert total == f['samples'][0] > 0, total
assert abs(sum(line['percent'][0] for line in f['lines']) - 100) < 0.01
offsets = [line['offset'] for line in f['lines']]
assert offsets == sorted(offsets) and offsets[0] == 0
for line, following in zip(f['lines'], f['lines'][1:]):
    assert len(line['bytes']) == 2 * (following['offset'] - line['offset']), line
P
tacho annotate -i hot.data --stdio2 spin >out
grep -q "^Samples: .* of event 'cpu-clock:u'" out && grep -q '^spin() .*/here$' out || fail "$(cat out)"
grep -Eq '[↑↓] j' out || fail "no jump is marked: $(cat out)"
awk 'NR > 2 && $1 ~ /^[0-9]+\.[0-9]+$/ { s += $1 } END { exit !(s > 99 && s < 101) }' out || fail "$(cat out)"
tacho annotate -i - --stdio spin <hot.data >out	# a pipe is read once
grep -q 'Source code & Disassembly of here' out || fail "$(cat out)"
tacho annotate -i hot.data --stdio -v spin | grep -q 'h->nr_samples: [1-9]' || fail "-v shows no addresses"
[ "$(status_of tacho annotate -i hot.data --stdio nosuch)" = 1 ]
grep -q "has no samples in a function 'nosuch'" err || fail "$(cat err)"
for wrong in "-n --show-total-period" "-M pdp11" "--percent-type weekly" "--prefix-strip 2" "spin extra"; do
	[ "$(status_of tacho annotate -i hot.data $wrong)" = 129 ] && [ -s err ] || fail "$wrong: $(cat err)"
done
[ "$(status_of tacho annotate -i hot.data --objdump=/nonexistent/objdump spin)" = 1 ]
grep -q "cannot run '/nonexistent/objdump'" err || fail "$(cat err)"
# The code is gone.
rm here
mv "$HOME/.debug" "$HOME/.debug.gone" 2>/dev/null || true
[ "$(status_of tacho annotate -i hot.data --stdio spin)" = 1 ] && [ -s err ] || fail "$(cat out err)"
