# Folded stacks contain every sample of perf's script, and the known stack is the heaviest.
. "$SUPPORT/lib.sh"
. "$SUPPORT/flame.sh"
need perf cc
record_sample perf.data
tacho export -f folded >folded
samples=$(perf script -i perf.data -F ip 2>/dev/null | awk 'BEGIN { RS = "" } { n++ } END { print n + 0 }')
total=$(awk '{ n += $NF } END { print n }' folded)
[ "$samples" = "$total" ] || fail "perf has $samples samples, folded $total"
[ "$total" -gt 20 ] || skip "the machine is too busy to take samples"
grep -q '^work;.*main;outer_call;inner_loop [0-9]' folded || { cat folded; fail "no known stack"; }
[ "$(sort -t' ' -k2 folded | wc -l)" = "$(sed 's/ [0-9]*$//' folded | sort -u | wc -l)" ] ||
	fail "a stack has two lines"
tacho export -f folded --weight period >period
awk '{ n += $NF } END { exit !(n > 1000000) }' period || fail "no periods"
tacho export -f folded --symbols inner_loop >one
! grep -v 'inner_loop [0-9]*$' one || fail "--symbols lets others pass"
tacho export -f folded --reverse | grep -q '^inner_loop;outer_call;main;' || fail "not reversed"
