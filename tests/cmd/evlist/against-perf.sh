# evlist and its options print the same as perf evlist.
. "$SUPPORT/lib.sh"
need perf
need_root
need_tracefs
perf record -q -o a.data -e '{cpu-clock,page-faults},sched:sched_switch' -- true >/dev/null 2>&1 ||
	skip "perf cannot record here"
for options in "" -v -F -g --trace-fields; do
	perf evlist -i a.data $options 2>/dev/null | grep -v '^# Tip' >theirs
	tacho evlist -i a.data $options >ours
	cmp theirs ours || fail "evlist $options differs: $(diff theirs ours)"
done
# What was cut off is told: the names of events stand at the end of a file.
head -c $(($(wc -c <a.data) / 2)) a.data >half.data
[ "$(status_of tacho evlist -i half.data)" = 1 ] || fail "damage passed as fine"
grep -q "byte [0-9]*: " err || { cat err; fail "no offset"; }
