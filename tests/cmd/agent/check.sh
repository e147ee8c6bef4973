# The built-in configuration: software events count everywhere, the others give the reason if they cannot.
. "$SUPPORT/lib.sh"
tacho stat -a -x, -e context-switches sleep 0.01 2>err || skip "may not count CPUs: $(cat err)"
tacho agent --check -c /dev/null >out
cat out
tacho agent --check -c /dev/null --json >json
command -v jq >/dev/null || exit 0
jq -e '.schema == "tacho-agent-check-1" and (.sources | length) == 2 and .errors == 0' json >/dev/null
jq -e '.sources[0].events[0] | .event == "context-switches" and .counters >= 1 and .attr.type == "1"
	and .attr.config == "0x3" and .why == null' json >/dev/null
jq -e '.descriptors.needed > .descriptors.counters and .descriptors.enough' json >/dev/null
# Every event either counts or has a reason.
jq -e '[.sources[].events[] | select(.counters == 0 and .why == null)] | length == 0' json >/dev/null
