# --switch-on and --switch-off count the samples between two events, as perf does.
# run: alone
. "$SUPPORT/lib.sh"
need perf jq
need_root
need_tracefs
ln -s "$TEST_BIN/calls" other
perf record -q -c 1 -e syscalls:sys_enter_getpid,syscalls:sys_enter_nanosleep,syscalls:sys_enter_getppid \
	-o a.data sh -c "./other ggg; $TEST_BIN/calls gggngggggpgnggngppggg; ./other g" 2>err ||
	skip "cannot record tracepoints here: $(cat err)"
on='--switch-on syscalls:sys_enter_nanosleep' off='--switch-off syscalls:sys_enter_getppid'
of() {	# COMMAND OPTION...
	of_command=$1
	shift
	"$of_command" report --stdio -i a.data -n "$@" </dev/null 2>err | grep -v 'Tip:'
}
for options in "" "$on" "$on $off" "$on $off --show-on-off-events" \
	"$on --switch-off syscalls:sys_enter_nanosleep" "$on -c other" "$on $off -c calls -s sym"; do
	of perf -s comm,sym $options >theirs
	of tacho -s comm,sym $options >ours
	grep -q '%' ours || { cat err; fail "nothing: $options"; }
	diff theirs ours || fail "not the same: $options"
done
# Without --switch-on, counting ends with the first event of --switch-off.
perf record -q -c 1 -e syscalls:sys_enter_getpid,syscalls:sys_enter_getppid -o b.data \
	"$TEST_BIN/calls" ggggpggpg
samples() { tacho report -i b.data --json "$@" | jq -c '[.events[].samples]'; }
[ "$(samples)" = '[7,2]' ] || fail "not recorded: $(samples)"
[ "$(samples $off)" = '[4]' ] || fail "--switch-off alone: $(samples $off)"
[ "$(samples $off --show-on-off-events)" = '[4,1]' ] || fail "--switch-off alone, shown"
[ "$(samples --switch-on syscalls:sys_enter_getppid)" = '[3,1]' ] || fail "--switch-on alone"
refused 129 tacho report -i a.data --switch-on sys_enter_nanosleep
grep -q 'evlist' err
refused 129 tacho report -i a.data $on --switch-off none
[ "$(status_of tacho report --stdio -i b.data --switch-off syscalls:sys_enter_getpid)" = 0 ]
grep -q 'no samples between these events' err || fail "$(cat err)"
# Each event of a group recorded with :S can be used to switch, as in script.
tacho record -q -c 10 -e '{page-faults,minor-faults}:S' -o c.data sh -c 'for i in 1 2 3 4; do (exit 0); done' 2>err ||
	skip "cannot record groups here: $(cat err)"
for options in "--switch-on minor-faults" \
	"--switch-on minor-faults --switch-off page-faults --show-on-off-events"; do
	tacho script -i c.data -F event $options | sort | uniq -c | awk '{ sub(":", "", $2); print $2, $1 }' | sort >theirs
	tacho report -i c.data --no-group --json $options | jq -r '.events[] | select(.samples > 0) | "\(.name) \(.samples)"' | sort >ours
	[ -s ours ] || fail "nothing: $options"
	diff theirs ours || fail "not the same: $options"
done
refused 129 tacho report -i a.data --show-on-off-events
