# No room for the data: the command says so and fails, and the file holds what fitted.
. "$SUPPORT/lib.sh"
. "$SUPPORT/record.sh"
need perf
status=0
(
	ulimit -f 100
	trap '' XFSZ
	tacho record -e cpu-clock --call-graph dwarf,1024 -o file sh -c "$LOOP; $LOOP; $LOOP; $LOOP" 2>err
) || status=$?
[ $status = 1 ] || { cat err; fail "status $status, expected 1"; }
grep -q '^tacho record: cannot write the data: ' err || { cat err; fail "no message"; }
n=$(perf script -i file -F comm,time,event 2>/dev/null | grep -c cpu-clock || true)
[ "$n" -gt 10 ] || { cat err; ls -l file; fail "perf reads $n samples"; }
