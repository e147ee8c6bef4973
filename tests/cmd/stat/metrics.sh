# -M and --metric-only: metrics by name and by group, in text, CSV and JSON.
. "$SUPPORT/lib.sh"
tacho stat -x, -M cs_per_second,page_faults_per_second true 2>rows
sed 's/^[0-9.]*,/V,/; s/,[0-9]*,100.00,[0-9.]*,/,R,100.00,M,/' rows
tacho stat -x, --metric-only -M CPUs_utilized,cs_per_second "$TEST_BIN/spin" -c 0.1 -t 0 2>rows
head -n 1 rows
awk -F, 'NR == 2 { exit !(NF == 3 && $1 > 0) }' rows || fail "$(cat rows)"
tacho stat -j --metric-only -M software true 2>rows
python3 -c 'import json; print(*json.load(open("rows")), sep="|")'
tacho stat --metric-only -M CPUs_utilized true 2>text
grep -q ' CPUs  CPUs_utilized' text || fail "$(cat text)"
tacho stat -a -j -A -M cs_per_second sleep 0.05 2>rows
python3 -c '
import json
rows = [json.loads(line) for line in open("rows")]
assert all(r["metric-unit"] == "cs/sec  cs_per_second" for r in rows if r["event"] == "context-switches"), rows
assert len({r["cpu"] for r in rows}) * 2 == len(rows), rows'
refused 129 tacho stat -M no_such_metric true
refused 129 tacho stat -M CPUs_utilised true
grep -q "did you mean 'CPUs_utilized'" err || fail "$(cat err)"
has_pmu || refused 129 tacho stat --topdown true
# One line of metrics per CPU, with a column for each.
tacho stat -a -A -x, --metric-only -M CPUs_utilized,cs_per_second sleep 0.05 2>rows
[ "$(wc -l <rows)" = $(($(getconf _NPROCESSORS_ONLN) + 1)) ] || fail "$(cat rows)"
awk -F, 'NF != 4 { exit 1 }' rows || fail "columns: $(cat rows)"
# With -r, a metric is computed from the means.
tacho stat -r 5 -j -M page_faults_per_second true 2>rows
python3 -c '
import json
rows = {r["event"]: r for r in map(json.loads, open("rows"))}
rate = 1e3 * float(rows["page-faults"]["counter-value"]) / float(rows["task-clock"]["counter-value"])
assert abs(float(rows["page-faults"]["metric-value"]) / rate - 1) < 1e-3, rows'
# There is no metric for events that were not counted.
has_pmu || ! tacho stat -e cycles,task-clock true 2>&1 | grep 'nan' || fail "nan"
