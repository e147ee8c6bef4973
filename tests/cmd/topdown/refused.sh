# Impossible requests get a message with the reason.
. "$SUPPORT/lib.sh"
list=$SUPPORT/topdown.json
refused 129 tacho topdown
refused 129 tacho topdown -a -p 1
refused 129 tacho topdown -a --sample
refused 129 tacho topdown --sample-output x true
refused 129 tacho topdown -l 0 true
refused 1 tacho topdown -l 3 --event-list "$list" true
grep -q 'level 3 is not available here, only 2' err || fail "$(cat err)"
refused 127 tacho topdown --event-list "$list" /no/such/program
refused 129 tacho stat --topdown --td-level 3 --event-list "$list" true
has_pmu && exit 0
refused 1 tacho topdown true
grep -q 'this CPU has no top-down events: metric' err || fail "$(cat err)"
