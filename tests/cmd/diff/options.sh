# What perf does not have: JSON, a flame graph, -S; and what is refused.
. "$SUPPORT/lib.sh"
cp "$TEST_BIN/hot" here
record() { tacho record -q -g -e cpu-clock:u -F 2000 -o "$1" ./here 2>err || skip "cannot record here: $(head -n 1 err)"; }
record old.data
record new.data
tacho diff --json -c ratio old.data new.data >out
tacho diff -c ratio -p old.data new.data >text
python3 - <<'P'
import json
d = json.load(open('out'))
assert d['schema'] == 'tacho.diff/1' and d['compute'] == 'ratio' and d['files'] == ['old.data', 'new.data'], d
(event,) = d['events']
for at in 0, 1:
    parts = [row['files'][at] for row in event['rows'] if row['files'][at]]
    assert sum(p['period'] for p in parts) == event['totals'][at] > 0
    assert abs(sum(p['percent'] for p in parts) - 100) < 0.01
    assert all(p['samples'] > 0 for p in parts)
(spin,) = [r['files'] for r in event['rows'] if r['keys'] == {'dso': 'here', 'symbol': '[.] spin'}]
assert abs(spin[1]['delta'] - (spin[1]['percent'] - spin[0]['percent'])) < 1e-9
assert abs(spin[1]['ratio'] - spin[1]['period'] / spin[0]['period']) < 1e-9
assert 'delta' not in spin[0]
row = [line.split() for line in open('text') if line.rstrip().endswith('] spin')][0]
assert row[1] == str(spin[0]['period']) and abs(float(row[2]) - spin[1]['ratio']) < 1e-6, row
P
tacho diff -S spin old.data new.data | grep -v '^#' >out
[ "$(grep -c . out)" = 1 ] && grep -q '%.*here.*\[\.\] spin$' out || fail "-S: $(cat out)"
# Without arguments, the files that a second record leaves.
cp old.data perf.data.old
cp new.data perf.data
tacho diff >out
tacho diff old.data new.data | cmp - out || fail "perf.data.old and perf.data are not the default"
tacho diff new.data | cmp - out || fail "perf.data.old is not the default"
# A range for each file.
tacho diff --json --time 0%-20%:0%-80% old.data new.data >out
python3 - <<'P'
import json
totals = json.load(open('out'))['events'][0]['totals']
assert 2 * totals[0] < totals[1], totals
P
tacho diff -q --flame change.svg old.data new.data
grep -q '<svg' change.svg && grep -q spin change.svg || fail "no flame graph"
[ "$(status_of tacho diff -q --flame change.svg old.data new.data old.data)" = 129 ]
for wrong in "-c often" "-c wdiff" "-c wdiff:1" "-c cycles" "-o 2" "-o -1" "-s nosuch" "-s overhead" "-s mem" "-t ." \
	"--percentage some" "--stream" "--cycles-hist" "-D"; do
	[ "$(status_of tacho diff $wrong old.data new.data)" = 129 ] && [ -s err ] || fail "$wrong: $(cat err)"
done
[ "$(status_of tacho diff old.data nosuch.data)" = 1 ] && grep -q nosuch.data err || fail "$(cat err)"
# A truncated file counts up to where it ends.
head -c $(($(wc -c <new.data) * 3 / 4)) new.data >cut.data
[ "$(status_of tacho diff old.data cut.data)" = 1 ] && [ -s err ] || fail "$(cat err)"
