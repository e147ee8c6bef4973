# run: plain
# The one setcap command of the fixes gives an ordinary user everything: after it, no finding asks for more
# capabilities, and tracefs, which only the effective capabilities may read, is used.
. "$SUPPORT/lib.sh"
need_root
need_tracefs
need setpriv setcap jq
user() {
	setpriv --reuid 65534 --regid 65534 --clear-groups --inh-caps=-all --ambient-caps=-all "$@"
}
cp "$TACHO" ./tacho
chmod 755 tacho
! user cat /sys/kernel/tracing/events/sched/sched_switch/id 2>err || skip "every user may read tracefs here"
status_of user ./tacho doctor --json >status
! jq -e '.findings[] | select(.id == "container")' out >found || skip "in a container the fixes are others"
command=$(jq -r '.findings[] | select(.id == "cap-dac-read-search") | .fix' out)
case $command in
setcap*) ;;
*) fail "no setcap command: $command" ;;
esac
[ "$(jq -r '.findings[] | select(.id == "tracefs") | .fix' out)" = "$command" ] || fail "tracefs has another fix"
PATH=$PWD:$PATH sh -c "$command" 2>err || skip "no file capabilities here: $(head -n 1 err)"
[ "$(user ./tacho version 2>&1)" = "$(tacho version)" ] || skip "file capabilities prevent the start here"
status=$(status_of user ./tacho doctor --json)
[ "$(jq -r '.findings[] | select(.id == "cap-perfmon") | .value' out)" = held ] ||
	skip "file capabilities are ignored here, as on a file system mounted with nosuid"
[ "$status" = 0 ] || fail "status $status"
jq -r '.findings[] | select(.fix != null) | select(.fix | startswith("setcap")) | .id' out >left
[ ! -s left ] || fail "still asks for capabilities: $(cat left)"
[ "$(jq -r '.findings[] | select(.id == "tracefs") | .verdict' out)" = ok ] || fail "tracefs is not readable"
user ./tacho stat -x, -e sched:sched_process_exec true 2>counts || fail "cannot count a tracepoint: $(cat counts)"
user ./tacho list sched:sched_switch | grep -q 'sched:sched_switch' || fail "tracepoints are not listed"
