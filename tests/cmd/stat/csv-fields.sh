# stat -x, has perf 7.x's seven fields: value, unit, event, running time, percent, metric, unit.
. "$SUPPORT/lib.sh"
tacho stat -x, -e task-clock,page-faults,context-switches true 2>rows
cat rows
awk -F, '
	NF != 7 { print "row " NR " has " NF " fields: " $0; bad = 1 }
	$1 !~ /^[0-9]+(\.[0-9]+)?$/ { print "row " NR ": value " $1; bad = 1 }
	$4 !~ /^[0-9]+$/ || $4 == 0 { print "row " NR ": running time " $4; bad = 1 }
	$5 != "100.00" { print "row " NR ": percent " $5; bad = 1 }
	{ names = names " " $3; units = units "[" $2 "]" }
	NR == 1 && $1 !~ /^[0-9]+\.[0-9][0-9]$/ { print "task-clock is " $1; bad = 1 }
	END {
		if (names != " task-clock page-faults context-switches" || units != "[msec][][]")
			bad = 1
		exit bad
	}' rows
# A tab may be spelled as scripts spell it.
tacho stat -x '\t' -e page-faults true 2>rows
awk -F '\t' '{ exit !(NF == 7 && $3 == "page-faults") }' rows || fail "$(cat rows)"
