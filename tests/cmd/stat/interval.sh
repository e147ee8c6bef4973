# -I: rows at start + n * interval without drift; --interval-count ends the printing, --summary
# adds the totals.
# run: plain alone
. "$SUPPORT/lib.sh"
tacho stat -I 50 -x, -e context-switches,page-faults -a sleep 1.02 2>rows
awk -F, '
	NF != 8 { print "fields: " $0; bad = 1 }
	$4 == "context-switches" { time[++n] = $1 }
	END {
		# A busy machine wakes us late, but what is late stays on the grid of 50 ms: lateness
		# that added up would spread evenly over it. The last row is the end of the run.
		for (i = 1; i < n; i++)
			near += time[i] - int(time[i] / 0.05) * 0.05 < 0.02
		if (n < 3 || near < (n - 1) / 2) { print near " of " n " on the grid"; bad = 1 }
		exit bad
	}' rows || fail "$(cat rows)"

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
