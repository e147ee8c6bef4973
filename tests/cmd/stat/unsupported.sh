# Without a PMU the page faults are counted all the same; cycles says that and why it is not.
. "$SUPPORT/lib.sh"
need jq
! has_pmu || skip "this machine has a PMU: cycles is supported"
tacho stat -e cycles,page-faults true 2>text
grep -Eq '^ *<not supported> +cycles' text || fail "no <not supported> row: $(cat text)"
grep -Eq '^ *[1-9][0-9,]* +page-faults' text || fail "no page faults: $(cat text)"

tacho stat -j -e cycles,page-faults true 2>rows
jq -r 'select(.event == "cycles") | ."counter-value"' rows
jq -es 'map(select(.event == "cycles"))[0].reason | type == "string" and length > 10' rows
jq -es 'map(select(.event == "page-faults"))[0]."counter-value" | tonumber > 0' rows
