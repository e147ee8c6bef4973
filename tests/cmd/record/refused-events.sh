# An event that cannot be sampled does not prevent the others: a message says which and why, and it is in no group.
. "$SUPPORT/lib.sh"
. "$SUPPORT/record.sh"
need perf
records() {	# EVENTS REFUSED GROUPS
	tacho record -e "$1" -o file sh -c "$LOOP" 2>err || { cat err; fail "$1"; }
	for event in $2; do
		grep -q "^tacho record: $event is not recorded: ." err || { cat err; fail "$1: no word of $event"; }
	done
	[ "$(grep -c 'is not recorded' err)" = "$(echo "$2" | wc -w)" ] || { cat err; fail "$1: too many words"; }
	[ "$(perf evlist -g -i file 2>/dev/null | grep -v '^#' | paste -sd' ' -)" = "$3 dummy:u" ] ||
		{ perf evlist -g -i file >&2; fail "$1: not the groups $3"; }
	[ "$(perf_samples file)" = "$(said err)" ] || fail "$1: perf reads other samples"
}
records cpu-clock,duration_time duration_time cpu-clock
records duration_time,cpu-clock,user_time 'duration_time user_time' cpu-clock
records '{cpu-clock,duration_time},page-faults' duration_time 'cpu-clock page-faults'
records '{duration_time,cpu-clock,page-faults}' duration_time '{cpu-clock,page-faults}'
if ! has_pmu; then
	records '{cpu-clock,branch-misses,page-faults}' branch-misses '{cpu-clock,page-faults}'
	records '{branch-misses,cpu-clock,page-faults},cs' branch-misses '{cpu-clock,page-faults} cs'
	records '{cpu-clock,branch-misses},page-faults,instructions' 'branch-misses instructions' 'cpu-clock page-faults'
fi
refused 1 tacho record -e duration_time,user_time -o none true
grep -q '^tacho record: duration_time: ' err || { cat err; fail "not said why"; }
