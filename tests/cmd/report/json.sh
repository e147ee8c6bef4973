# JSON has the same numbers as the text.
. "$SUPPORT/lib.sh"
. "$SUPPORT/stored.sh"
need jq
stored g.data live_perf record -q -e cpu-clock:u -F 2000 -g -o g.data sh -c 'i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done'
tacho report -i g.data --json >r.json
jq -e '.schema == "tacho.report/1" and .file == "g.data"' r.json
jq -e '.events | length == 1' r.json
jq -e '.quality.samples == .events[0].samples' r.json
jq -e '.events[0].entries | all(has("comm") and has("dso") and has("symbol") and has("space"))' r.json
jq -e '[.events[0].entries[].samples] | add == $n' --argjson n "$(jq .events[0].samples r.json)" r.json
jq -e '[.events[0].entries[].self_percent] | add | . > 99.99 and . < 100.01' r.json
jq -e '.events[0].entries | all(.children_percent + 0.000001 >= .self_percent)' r.json
tacho report -i g.data --no-children -g none -t, -q -F overhead,symbol >t.txt 2>/dev/null
[ "$(grep -c % t.txt)" = "$(tacho report -i g.data --json --no-children -s symbol | jq '.events[0].entries | length')" ] ||
	fail "the text has other rows than the JSON"
# One schema of the quality for all commands.
tacho export -i g.data -f json -o p.json
[ "$(jq -S .quality r.json)" = "$(jq -S .quality p.json)" ] || fail "report and export disagree: $(jq .quality r.json p.json)"
