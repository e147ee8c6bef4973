# Terms of single events: their perf_event_attr, and separate rings for overwrite.
. "$SUPPORT/lib.sh"
. "$SUPPORT/record.sh"
need perf
attr_of() {	# KEY ARGS...: its value for the first event, nothing where it is 0
	attr_key=$1
	shift
	tacho record --dump-attr "$@" true >out 2>err || { cat err >&2; fail "record $*"; }
	sed -n "1,/^\$/s/^$attr_key: //p" out
}
is() {		# VALUE KEY ARGS...
	is_value=$1
	shift
	[ "$(attr_of "$@")" = "$is_value" ] || { cat out >&2; fail "$1 is not '$is_value': $*"; }
}
is "" inherit -e cpu-clock/no-inherit/
is "" inherit -e cpu-clock/inherit=0/
is 1 inherit -i -e cpu-clock/inherit/
is 1 inherit -e cpu-clock
is "" inherit --per-thread -e cpu-clock/inherit/
is 1 write_backward -e cpu-clock/overwrite/
is "" write_backward --overwrite -e cpu-clock/no-overwrite/
is 1 write_backward --overwrite -e cpu-clock
# BPF output is sampled every time, with raw data: ID IP TID TIME CPU PERIOD RAW
is 1 sample_period -e bpf-output
is 0x10587 sample_type -e bpf-output
# Without branch hardware the event is refused; branch_type=no works.
if ! has_pmu; then
	refused 1 tacho record -o x -e cpu-clock/branch_type=any/ true
	grep -q 'records no branches' err || { cat err; fail "nothing said of branches"; }
	tacho record -q -b -o x -e cpu-clock/branch_type=no/ true || fail "branch_type=no"
fi

# One event in overwrite mode, the other not: each has its rings, and both are in the file.
for events in 'cpu-clock/overwrite,period=100000/' 'cpu-clock/overwrite,period=100000/,page-faults/period=1/' \
	      'page-faults/period=1/,cpu-clock/overwrite,period=100000/'; do
	tacho record -e "$events" -m 1 -o file sh -c "$LOOP" 2>err || { cat err; fail "$events"; }
	tacho script -i file -F event >mine
	perf script -i file -F event >its 2>/dev/null
	diff mine its >&2 || fail "$events: perf reads other samples"
	# A page holds 102 of them.
	n=$(grep -c cpu-clock mine || true)
	[ "$n" -gt 0 ] && [ "$n" -le $((102 * $(getconf _NPROCESSORS_CONF))) ] || fail "$events: $n samples kept"
	case $events in
	*page-faults*) grep -q page-faults mine || fail "$events: no page faults" ;;
	esac
done
refused 1 tacho record --threads -e cpu-clock/overwrite/ -o dir true
