# A truncated recording: the samples before the damage are written, and the exit status is 1.
. "$SUPPORT/lib.sh"
. "$SUPPORT/flame.sh"
need cc
record_sample perf.data
size=$(wc -c <perf.data)
head -c $((size / 2)) perf.data >half.data
[ "$(status_of tacho export -f folded -i half.data -o half.folded)" = 1 ] || fail "status"
grep -q 'byte [0-9]*: ' err || { cat err; fail "no offset"; }
grep -q inner_loop half.folded || fail "nothing was kept"
tacho export -f folded -i perf.data -o - >whole
[ "$(awk '{ n += $NF } END { print n }' half.folded)" -lt "$(awk '{ n += $NF } END { print n }' whole)" ]
