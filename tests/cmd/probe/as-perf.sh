# Called perf, the command words the messages that perf's own tests look for as perf does.
. "$SUPPORT/lib.sh"
need cc
ln -s "$(command -v tacho)" perf
for option in -a -d -L -V; do
	[ "$(status_of ./perf probe $option)" = 129 ] || fail "the status"
	grep -q "Error: switch .* requires a value" err || fail "$(cat err)"
done
for options in "-a x -d x" "-a x -L f" "-d x -V f" "-L f -l" "-V f -F" "-l -F"; do
	# shellcheck disable=SC2086
	[ "$(status_of ./perf probe $options)" = 129 ] || fail "the status"
	grep -q 'Error: switch .* cannot be used with switch ' err || fail "$options: $(cat err)"
done
[ "$(status_of ./perf probe)" = 129 ] || fail "no action"
for word in usage 'perf probe' verbose quiet add del force line vars externs range; do
	grep -qi -e "$word" err || fail "the usage lacks $word"
done
echo 'int area(int width); int area(int width) { return width * width; } int main(int n, char **v) { return area(n); }' >p.c
cc -g -O0 -o p p.c
for range in area:foo area:1-foo area:1+foo 'area;lazy*'; do
	[ "$(status_of ./perf probe -x p -L "$range")" = 1 ] || fail "the status"
	grep -q 'Semantic error' err || fail "$range: $(cat err)"
done
[ "$(status_of ./perf probe -x p -n 'area nosuchvariable')" = 1 ] || fail "the status"
grep -q "Failed to find the variable 'nosuchvariable'.* in this function" err && grep -q 'Error: Failed to add events' err || fail "$(cat err)"
[ "$(wc -l <err)" = 2 ] || fail "more lines: $(cat err)"
./perf list 'nosuchgroup:*' 2>/dev/null || fail "an empty list"
