# A full disk: the command fails with a message, and the file has the data up to then.
# run: slow
. "$SUPPORT/lib.sh"
. "$SUPPORT/record.sh"
need perf
status=0
(
	ulimit -f 100
	trap '' XFSZ
	tacho record -e cpu-clock --call-graph dwarf,1024,raw -o file sh -c "$LOOP; $LOOP; $LOOP; $LOOP" 2>err
) || status=$?
[ $status = 1 ] || { cat err; fail "status $status, expected 1"; }
grep -q '^tacho record: cannot write the data: ' err || { cat err; fail "no message"; }
n=$(perf script -i file -F comm,time,event 2>/dev/null | grep -c cpu-clock || true)
[ "$n" -gt 10 ] || { cat err; ls -l file; fail "perf reads $n samples"; }

# perf needs the features after the data to read tracepoints: space for them is always reserved.
# SIGXFSZ does not kill the recorder.
[ "$(id -u)" = 0 ] && [ -r /sys/kernel/tracing/events/syscalls ] || exit 0
need prlimit
limited() {	# BYTES COMMAND...
	limited_bytes=$1
	shift
	status=0
	prlimit --fsize="$limited_bytes" "$@" 2>told || status=$?
	[ $status = 1 ] || { cat told; fail "status $status of $1 $2, expected 1"; }
	grep -q 'cannot write the data: ' told || { cat told; fail "no message of $1 $2"; }
}
both_read() {	# FILE LEAST
	n=$(tacho script -i "$1" 2>err | grep -c 'sys_enter: NR ' || true)
	m=$(perf script -i "$1" 2>/dev/null | grep -c 'sys_enter: NR ' || true)
	[ "$n" = "$m" ] && [ "$n" -gt "$2" ] || { cat err; fail "of $1 tacho reads $n samples, perf $m"; }
}
dd="dd if=/dev/zero of=/dev/null bs=1 count=20000"
for bytes in 100000 300001 300009 1048576 1200000; do
	limited $bytes tacho record -o file -e raw_syscalls:sys_enter $dd
	both_read file 100
done
limited 50000 tacho record -o file -z -e raw_syscalls:sys_enter $dd
tacho inject -i file -o plain || fail "inject"		# perf 6.1 cannot read what perf 7 compresses
both_read plain 100
tacho record -q -o whole -e raw_syscalls:sys_enter $dd 2>err
limited 900000 tacho inject -i whole -o copy
both_read copy 100
# Each piece of data is written by four calls: each of them fails once, also those of the last piece.
need strace
dd="dd if=/dev/zero of=/dev/null bs=1 count=100000"	# a small ring: many pieces, also where the recorder is slow
for call in 2 6 10 11 12 13; do
	status=0
	ASAN_OPTIONS=${ASAN_OPTIONS:-}:detect_leaks=0 strace -qq -o trace -e trace=pwrite64,pwritev \
		-e inject=pwrite64,pwritev:error=EIO:when=$call \
		tacho record -m 64K -o file -e raw_syscalls:sys_enter $dd 2>told || status=$?
	[ $status = 1 ] || { cat told; fail "status $status, expected 1"; }
	n=$(tacho script -i file 2>err | grep -c 'sys_enter: NR ' || true)
	m=$(perf script -i file 2>/dev/null | grep -c 'sys_enter: NR ' || true)
	[ "$n" = "$m" ] || { cat err trace; fail "call $call failed: tacho reads $n samples, perf $m"; }
	[ ! -s err ] || { cat err trace; fail "call $call failed: something is wrong with the file"; }
done
