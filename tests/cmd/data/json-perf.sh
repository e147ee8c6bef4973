# data convert --to-json says what perf's says of files that perf wrote.
. "$SUPPORT/lib.sh"
. "$SUPPORT/stored.sh"
need jq
stored a.data live_perf record -q -g -o a.data -e cpu-clock,page-faults -F 1999 sh -c 'ls -R /usr/share/perl >/dev/null'
stored b.data live_perf record -q -a -o b.data -e sched:sched_switch sleep 0.05
perf_json() {
	command perf data convert --to-json perf.json --force -i "$1" >&2
	cat perf.json
}
for name in a b; do
	expected perf_json $name.data >theirs.json
	tacho data convert --to-json ours.json --force -i $name.data 2>/dev/null
	jq -S '.headers | del(."captured-on")' theirs.json >theirs
	jq -S '.headers | del(."captured-on")' ours.json >ours
	cmp theirs ours || fail "headers: $(diff theirs ours)"
	# names of threads after their end differ, and symbols of linkage tables; all threads that have gone are
	# one to perf, whose process is that of any of them
	of='[.samples[] | { timestamp, pid: (if .tid == -1 then "gone" else .pid end), tid, cpu,
		callchain: [ .callchain[].ip ] }]'
	jq -S "$of" theirs.json >theirs
	jq -S "$of" ours.json >ours
	cmp theirs ours || fail "$name.data: $(diff theirs ours | head)"
done
jq -e '[.samples[] | has("prev_comm") and has("next_pid")] | all' ours.json >/dev/null || fail "no fields of tracepoints"
