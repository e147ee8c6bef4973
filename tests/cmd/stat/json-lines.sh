# stat -j gives one JSON object per line, with perf 7.x's keys in perf's order.
. "$SUPPORT/lib.sh"
need jq
tacho stat -j -e task-clock,page-faults,context-switches true 2>rows
while read -r line; do
	printf '%s\n' "$line" | jq -e -s 'length == 1 and (.[0] | type) == "object"' >one ||
		fail "not one object: $line"
done <rows
jq -r '[.event, .unit, (."counter-value" | tonumber | . >= 0), (."event-runtime" > 0),
	."pcnt-running", (keys_unsorted[0:5] | join(" "))] | @tsv' rows | tr '\t' '|'
