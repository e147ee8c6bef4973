# From a command to a picture in one step: well-formed, complete, without references to other files.
. "$SUPPORT/lib.sh"
. "$SUPPORT/flame.sh"
need xmllint cc
record_sample perf.data
tacho flame -o out.svg -F 999 -- ./work || skip "cannot record here"
xmllint --noout out.svg
grep -q '<title>inner_loop$' out.svg || fail "inner_loop is not drawn"
! grep -oE '(href|src|url)[=(][^ ]*' out.svg || fail "the picture refers to something"
[ -z "$(ls -d "$TMPDIR"/tacho-flame-* 2>/dev/null)" ] || fail "the recording was not removed"
tacho flame -i perf.data -o out.html --title 'a <b> & c'
grep -q '<title>a &lt;b&gt; &amp; c</title>' out.html || fail "the title is not escaped"
xmllint --html --noout out.html 2>html.log || true
tacho flame -i perf.data -o - --width 600 --icicle | grep -q 'width="600"' || fail "no width"
tacho flame -i perf.data -o r.svg --reverse
xmllint --noout r.svg
tacho flame --diff perf.data perf.data -o d.svg
xmllint --noout d.svg
grep -q '(+0.00)' d.svg || fail "no change is reported"
[ "$(status_of tacho flame -o x.svg -- sh -c 'exit 3')" = 3 ] || [ ! -e x.svg ] || fail "status of the command"
refused 129 tacho flame -i perf.data -o out.png
refused 129 tacho flame --diff perf.data
refused 129 tacho flame -i perf.data -- true
# How to record is of no use where nothing is recorded.
for how in '-F 99' '-c 9' '--call-graph fp' '--data other.data' -a; do
	# shellcheck disable=SC2086
	refused 129 tacho flame -i perf.data $how -o -
done
