# The text has the shape that flame graph tools and profilers look for, also with -F +pid and --header.
# run: alone
. "$SUPPORT/lib.sh"
need perf python3
perf record -q -e cpu-clock -F 1999 -g -o chains.data -- sh -c 'ls -R /usr/share/doc' >/dev/null 2>&1 ||
	skip "perf cannot record here"
tacho script -i chains.data >text 2>messages
[ ! -s messages ] || fail "a message on stderr: $(cat messages)"
"$SUPPORT/script-shapes" <text || fail "a reader would not understand the default text"
tacho script -i chains.data -F +pid >text
"$SUPPORT/script-shapes" <text || fail "a reader would not understand -F +pid"
tacho script -i chains.data --header >text
[ "$(head -n 1 text)" = '# ========' ] || fail "the header does not start as the Firefox profiler needs it"
grep -q '^# cmdline : .*record.*-g' text || fail "no command line in the header"
grep -v '^#' text | "$SUPPORT/script-shapes" || fail "the text after the header is not in the reader's format"
