# A filter by a single name is shown in the heading instead of as a column, unless it is the only key or a level of a
# hierarchy. perf shows the same.
. "$SUPPORT/lib.sh"
need perf
need_root
need_tracefs
perf record -q -c 1 -e syscalls:sys_enter_getpid -o a.data "$TEST_BIN/calls" ggg 2>err ||
	skip "cannot record tracepoints here: $(cat err)"
of() {	# COMMAND OPTION...
	of_command=$1
	shift
	"$of_command" report --stdio -i a.data "$@" </dev/null 2>err | sed '/Tip:/d; s/ *$//'
}
function=$(of tacho -s sym -q | awk 'NF { print $3 }')
object=$(of tacho -s dso -q | awk 'NF { print $2 }')
for options in "-s comm,sym -c calls" "-s comm -c calls" "-s dso -d $object" "-s sym -S $function" \
	"-s comm,dso -c calls -d $object" "-s sym,dso,comm -c calls -d $object -S $function" \
	"-s sym,dso,comm -c calls -d $object" "-s comm,dso,sym -c calls,none" \
	"-F overhead,comm -c calls" "-F overhead,comm,sym -c calls" "-F overhead,sym,comm -c calls" \
	"-s comm -c calls --hierarchy" "-s dso,comm -c calls -d $object --hierarchy"; do
	of perf $options >theirs
	of tacho $options >ours
	grep -q '100.00%' ours || { cat err; fail "nothing: $options"; }
	diff theirs ours || fail "not the same: $options"
done
