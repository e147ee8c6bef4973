# --sample runs the command again under record, with the event that the bottleneck's metric names.
. "$SUPPORT/lib.sh"
tacho topdown --sample --sample-output own.data --event-list "$SUPPORT/topdown.json" -- ls / >out 2>err || fail "$(cat err)"
tacho evlist -i own.data | head -n 1
tacho topdown --sample --event-list "$SUPPORT/topdown.json" -- ls / >out 2>err || fail "$(cat err)"
[ -s perf.data ] || fail "no perf.data"
grep -q 'Where it is: tacho record -e minor-faults -o perf.data' out || fail "$(cat out)"
