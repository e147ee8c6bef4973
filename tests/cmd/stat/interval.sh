# -I: rows at start + n * interval without drift; --interval-count ends the printing, --summary
# adds the totals.
# run: plain alone
. "$SUPPORT/lib.sh"
cat >drift.py <<'EOF'
# A row may be late, but the next one is due at its own multiple of the interval. Lateness that added
# up from row to row would make the last third of the rows later than the first.
import statistics, sys
interval = 0.02
times = [float(line.split(",")[0]) for line in open("rows") if line.split(",")[3] == "cs"][:-1]  # not the end
late, step, before = [], 0, 0
for time in times:
    step += max(1, round((time - before) / interval))
    late.append(time - step * interval)
    before = time
if len(late) < 30:
    sys.exit(f"only {len(late)} rows")
third = len(late) // 3
drift = statistics.median(late[-third:]) - statistics.median(late[:third])
if abs(drift) > 0.0015 or statistics.median(late) > 0.005 or min(late) < -0.0001:
    sys.exit(f"drift {drift:.6f} s, median lateness {statistics.median(late):.6f} s")
EOF
# A machine that is busy for a while can make one run look like drift, but not three.
for try in 1 2 3; do
	tacho stat -I 20 -x, -e cs,page-faults -a sleep 1.51 2>rows
	awk -F, 'NF != 8 { print "fields: " $0; bad = 1 } END { exit bad }' rows || fail "$(cat rows)"
	if python3 drift.py 2>why; then
		break
	fi
	[ $try -lt 3 ] || fail "$(cat why rows)"
done

tacho stat -I 20 --interval-count 3 --summary -x, -e cs -a sleep 1 2>rows
cut -d, -f1 rows | sed 's/^[0-9.]*$/time/'
awk -F, '$1 == "summary" { total = $2; next } { sum += $2 } END { exit !(total >= sum) }' rows ||
	fail "the summary is less than its parts: $(cat rows)"

tacho stat -I 20 --interval-count 1 -a -e cs sleep 0.5 2>text
head -n 1 text
tacho stat -I 20 --interval-count 2 -j -a -e cs sleep 0.5 2>rows
python3 -c 'import json; [print(sorted(json.loads(l))[0:2]) for l in open("rows")]'
tacho stat -I 20 --interval-count 2 --json -a -e cs sleep 0.5 2>rows
python3 -c 'import json; [print(json.loads(l)["schema"]) for l in open("rows")]'
# Each screen has its heading.
tacho stat -I 20 --interval-count 2 --interval-clear -a -e cs sleep 0.5 2>text
[ "$(grep -c 'time             counts unit events' text)" = 2 ] || fail "headings: $(cat text)"
