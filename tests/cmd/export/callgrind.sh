# callgrind_annotate reads the file, its total is that of all samples, and it shows callers.
. "$SUPPORT/lib.sh"
. "$SUPPORT/flame.sh"
need callgrind_annotate cc
record_sample perf.data
total=$(tacho export -f folded | awk '{ n += $NF } END { print n }')
tacho export -o out.callgrind
callgrind_annotate out.callgrind >annotated
grep 'PROGRAM TOTALS' annotated | tr -d , | grep -q "^ *$total " || { cat annotated; fail "not $total"; }
callgrind_annotate --tree=caller --inclusive=yes out.callgrind >annotated
grep -q '< .*outer_call' annotated || { cat annotated; fail "inner_loop has no caller"; }
