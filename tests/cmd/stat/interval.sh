# -I: rows at start + n * interval without drift; --interval-count ends the printing, --summary
# adds the totals.
. "$SUPPORT/lib.sh"
tacho stat -I 50 -x, -e context-switches,page-faults -a sleep 1.02 2>rows
awk -F, '
	NF != 8 { print "fields: " $0; bad = 1 }
	$4 == "context-switches" {
		n++
		# Waking late is the machine'"'"'s business; early or adding up is ours.
		off = $1 - n * 0.05
		if (off < 0 && n <= 20) { print "early: " $1; bad = 1 }
		last = off
	}
	END { if (n < 5 || n > 22) { print n " intervals"; bad = 1 }; exit bad }' rows || fail "$(cat rows)"

tacho stat -I 20 --interval-count 3 --summary -x, -e cs -a sleep 0.2 2>rows
cut -d, -f1 rows | sed 's/^[0-9.]*$/time/'
awk -F, '$1 == "summary" { total = $2; next } { sum += $2 } END { exit !(total >= sum) }' rows ||
	fail "the summary is less than its parts: $(cat rows)"

tacho stat -I 20 --interval-count 1 -a -e cs sleep 0.05 2>text
head -n 1 text
tacho stat -I 20 --interval-count 2 -j -a -e cs sleep 0.1 2>rows
python3 -c 'import json; [print(sorted(json.loads(l))[0:2]) for l in open("rows")]'
tacho stat -I 20 --interval-count 2 --json -a -e cs sleep 0.1 2>rows
python3 -c 'import json; [print(json.loads(l)["schema"]) for l in open("rows")]'
# Each screen has its heading.
tacho stat -I 20 --interval-count 2 --interval-clear -a -e cs sleep 0.1 2>text
[ "$(grep -c 'time             counts unit events' text)" = 2 ] || fail "headings: $(cat text)"
