# The heat map is well-formed and has all samples in its cells; a range of it selects samples with --time.
. "$SUPPORT/lib.sh"
. "$SUPPORT/flame.sh"
need xmllint cc
record_sample perf.data
tacho heatmap -i perf.data -o out.svg
xmllint --noout out.svg
total=$(tacho export -f folded | awk '{ n += $NF } END { print n }')
cells=$(sed -n 's/.*<title>.* s: \([0-9]*\) samples<.*/\1/p' out.svg | awk '{ n += $1 } END { print n }')
[ "$total" = "$cells" ] || fail "$total samples, but $cells in the cells"
first=$(sed -n 's/.*<title>\([0-9.]*\) s: .*/\1/p' out.svg | head -n 1)
part=$(tacho export -f folded --time "$first,$(awk "BEGIN { printf \"%.3f\", $first + 0.02 }")" |
	awk '{ n += $NF } END { print n }')
[ "$part" -gt 0 ] && [ "$part" -lt "$total" ] || fail "$part of $total in the first cell"
tacho heatmap -i perf.data --rows 10 -o - | grep -q 'samples in 100 ms'
refused 129 tacho heatmap perf.data
tacho heatmap --parent '^outer_call$' -o - | grep -q 'samples<' || fail "--parent found no caller"
refused 1 tacho heatmap --parent '^no_such_caller$' -o -
tacho record -q -e cpu-clock -o flat.data ls -R /usr/share/doc >/dev/null 2>&1
tacho heatmap -i flat.data -o flat.svg 2>err
[ ! -s err ] || fail "a recording that has all a heat map needs is complained of: $(cat err)"
