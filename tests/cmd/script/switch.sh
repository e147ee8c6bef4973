# --switch-on and --switch-off show what lies between two events, as perf does.
. "$SUPPORT/lib.sh"
. "$SUPPORT/stored.sh"
ln -s "$TEST_BIN/calls" other
set -- -q -c 1 -e syscalls:sys_enter_getpid,syscalls:sys_enter_nanosleep,syscalls:sys_enter_getppid
stored a.data live_perf record "$@" -o a.data "$TEST_BIN/calls" gggngggggpgnggngppgg
stored b.data live_perf record "$@" -o b.data sh -c "./other ggg; $TEST_BIN/calls gngpg; ./other gg"
on='--switch-on syscalls:sys_enter_nanosleep' off='--switch-off syscalls:sys_enter_getppid'
shown() {	# COMMAND OPTION...: what is shown of which command
	shown_by=$1
	shift
	"$shown_by" script -F comm,event "$@" </dev/null
}
same() {	# FILE OPTION...
	shown perf -i "$@" >theirs
	shown tacho -i "$@" >ours
	[ -s ours ] || fail "nothing: $*"
	diff theirs ours || fail "not the same: $*"
}
for options in "" "$on" "$on $off" "$on $off --show-on-off-events" \
	"$on --switch-off syscalls:sys_enter_nanosleep" "$on -c calls" "$on $off -c calls"; do
	same a.data $options
	same b.data $options
done
same b.data --switch-on syscalls:sys_enter_getpid -c other --show-on-off-events
[ -z "$(shown tacho -i b.data -c other $on)" ] || fail "what another option leaves out has switched"
# The first one ends it, where there is no other that begins.
shown tacho -i a.data >all
shown tacho -i a.data $off >ours
head -n 9 all | diff - ours || fail "--switch-off alone"
shown tacho -i a.data $off --show-on-off-events >ours
head -n 10 all | diff - ours || fail "--switch-off alone, shown"
# Of a pipe, too.
pipe() {
	live_perf record "$@" -o - "$TEST_BIN/calls" gggngggggpgnggngppgg >pipe.data
}
stored pipe.data pipe "$@"
shown tacho -i a.data $on $off >file
tacho script -F comm,event -i - $on $off <pipe.data | diff file - || fail "of a pipe"
refused 1 tacho script -i a.data --switch-on sys_enter_nanosleep
grep -q 'evlist' err
refused 1 tacho script -i a.data $on --switch-off none
refused 129 tacho script -i a.data --show-on-off-events
