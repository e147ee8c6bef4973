# Messages name the command that was asked for, also where `report` or `record` does the work.
. "$SUPPORT/lib.sh"
refused() {	# STATUS TEXT ARG...
	want=$1
	text=$2
	shift 2
	status=0
	tacho mem "$@" >out 2>err </dev/null || status=$?
	[ $status = "$want" ] || { cat err; fail "status $status, not $want: $*"; }
	grep -qF -- "$text" err || { cat err; fail "no such message: $text"; }
	! grep -q '^tacho \(report\|record\):' err || { cat err; fail "another command's name: $*"; }
}
refused 1 "tacho mem report: cannot open nosuch" report -i nosuch
refused 129 "tacho mem report: " report -t nothing
refused 129 "tacho mem report: 'x' is not expected here" report x
refused 129 "tacho mem: what to do?"
refused 129 "tacho mem: 'x' is neither record nor report" x
echo no recording >bad
refused 1 "tacho mem report: " report -i bad
refused 129 "tacho mem record: " record -t nothing
if tacho record -q -e cpu-clock:u -o clock.data true 2>/dev/null; then
	refused 129 "tacho mem report: --mem-mode: no sources of data were recorded" report --stdio -i clock.data
fi
