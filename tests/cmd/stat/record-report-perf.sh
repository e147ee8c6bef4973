# perf reads files of tacho stat record, and tacho stat report reads perf's: the values are the same.
. "$SUPPORT/lib.sh"
need perf
need_root

# value, unit and event of each row, with the time and the place before them; perf pads the time
fields() {	# FILE: without the running time and metrics, which differ in shape
	sed 's/^ *//' "$1" | awk -F, -v n="$2" '{ line = $1; for (i = 2; i <= n; i++) line = line "," $i; print line }'
}

same() {	# NAME FIELDS FILE REPORT_OPTIONS
	same_name=$1
	same_n=$2
	same_file=$3
	shift 3
	perf stat -x, report "$@" -i "$same_file" 2>theirs.raw || { cat theirs.raw >&2; fail "perf: $same_name"; }
	tacho stat report -x, "$@" -i "$same_file" 2>ours.raw || { cat ours.raw >&2; fail "tacho: $same_name"; }
	fields theirs.raw "$same_n" >theirs
	fields ours.raw "$same_n" >ours
	[ -s ours ] || fail "nothing: $same_name"
	cmp theirs ours || fail "$same_name differs: $(diff theirs ours)"
}

for who in perf tacho; do
	$who stat record -o a.data -e task-clock,page-faults,cs sh -c 'true; true' >/dev/null 2>&1 ||
		skip "$who cannot count here"
	same "$who command" 5 a.data
	$who stat record -o a.data -a -I 50 -e '{cpu-clock,cs}' sleep 0.2 >/dev/null 2>&1
	same "$who interval" 6 a.data
	same "$who interval per core" 8 a.data --per-core
	same "$who interval per CPU" 7 a.data -A
	$who stat record -o a.data -a --per-socket -e cpu-clock,page-faults sleep 0.05 >/dev/null 2>&1
	same "$who per socket" 7 a.data
	same "$who per node" 7 a.data --per-node
	same "$who per die" 7 a.data --per-die
	$who stat record -o a.data -a -A -e cpu-clock,page-faults sleep 0.05 >/dev/null 2>&1
	same "$who per CPU" 6 a.data
	$who stat record -o a.data --per-thread -p $$ -e page-faults,task-clock sleep 0.05 >/dev/null 2>&1
	same "$who per thread" 6 a.data
done
# both report missing hardware counters in the same way
if ! has_pmu; then
	for who in perf tacho; do
		$who stat record -o a.data -e cycles,page-faults true >/dev/null 2>&1
		tacho stat report -x, -i a.data 2>&1 | grep -q '^<not supported>,,cycles,' || fail "$who: no row"
	done
fi
