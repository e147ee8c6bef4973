# Of a truncated file the samples before the cut are shown; the message has the offset, and the command fails.
. "$SUPPORT/lib.sh"
. "$SUPPORT/stored.sh"
stored whole.data live_perf record -q -e cpu-clock:u -F 5000 -g -o whole.data "$TEST_BIN/burn" -t 1 -m 400 >burnt
tacho report -i whole.data --no-children >whole.txt 2>whole.err || fail "the whole file is refused"
size=$(stat -c %s whole.data)
head -c $((size / 2)) whole.data >cut.data
status=$(status_of tacho report -i cut.data --no-children)
[ "$status" != 0 ] || fail "no failure is reported"
grep -q '^ *[0-9.]*%' out || fail "no rows are shown"
grep -q 'byte [0-9]\|offset [0-9]\|at [0-9]' err || { cat err; fail "no offset in the message"; }
: >empty.data
refused 1 tacho report -i empty.data
refused 1 tacho report -i /nonexistent/perf.data
head -c 300 /dev/urandom >noise.data
refused 1 tacho report -i noise.data
