# An output that is not a regular file is not removed when writing fails, and the recording is never overwritten.
. "$SUPPORT/lib.sh"
. "$SUPPORT/flame.sh"
need cc
record_sample perf.data
if [ -c /dev/full ]; then
	ln -s /dev/full full.svg
	refused 1 tacho export -f folded -i perf.data -o full.svg
	[ -L full.svg ] || fail "a link was removed"
fi
cp perf.data kept
refused 1 tacho export -f folded -o ./perf.data
refused 1 tacho heatmap -o perf.data
refused 1 tacho inject -b -i perf.data -o ./perf.data
ln perf.data perf.svg
refused 1 tacho flame -i perf.data -o perf.svg
cmp perf.data kept || fail "the recording was changed"
