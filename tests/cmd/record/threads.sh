# --threads: a directory with a file for each ring, which perf and tacho read alike.
# run: slow
. "$SUPPORT/lib.sh"
. "$SUPPORT/record.sh"
need perf
need_root
need_tracefs
reads_alike() {	# DIR EVENT [FILE]: FILE has the same records
	[ -f "$1/data" ] && [ -f "$1/data.0" ] || { ls -l "$1"; fail "no data and data.0"; }
	[ $# = 2 ] || set -- "$3" "$2"
	n=$(perf_samples "$1")
	[ "$n" = "$(said err)" ] || { cat err perf.err; fail "perf reads $n of $(said err)"; }
	perf script -i "$1" -F comm,tid,cpu,time,event 2>/dev/null | tr -s ' ' | sed 's/^ *//; s/ *$//' | sort >of-perf
	tacho script -i "$1" -F comm,tid,cpu,time,event | tr -s ' ' | sed 's/^ *//; s/ *$//' | sort >of-tacho
	cmp of-perf of-tacho || { diff of-perf of-tacho | head; fail "perf and tacho differ"; }
	perf report -i "$1" --stdio --no-inline 2>&1 | grep -q '^ *[0-9.]*%' || fail "no report of $1"
	tacho report -i "$1" --stdio | grep -q '^ *[0-9.]*%' || fail "no own report of $1"
}
tacho record -a -e cpu-clock --threads -o cpu sh -c "$LOOP" 2>err
reads_alike cpu cpu-clock
[ "$(ls cpu/data.* | wc -l)" = "$(getconf _NPROCESSORS_ONLN)" ] || fail "not a file per CPU"
perf report -i cpu --header-only 2>/dev/null | grep -q 'directory data version : 1' || fail "no DIR_FORMAT"
tacho buildid-list -i cpu | grep -q libc || fail "no build id of libc"
for layout in core package numa 0/0; do
	tacho record -e raw_syscalls:sys_enter --threads=$layout -C 0 -o "one" sh -c "$LOOP; ls /" 2>err >out
	reads_alike one raw_syscalls:sys_enter
done
[ -d one.old ] || fail "the old directory is not kept"
tacho record -z -e raw_syscalls:sys_enter --threads=core -o packed \
	dd if=/dev/zero of=/dev/null bs=1 count=50000 2>err
reads_alike packed raw_syscalls:sys_enter "$(decompressed packed)"
# A file replaces a directory, and vice versa.
tacho record -q -e cpu-clock -o one true
[ -f one ] && [ -d one.old ] || fail "no file in place of a directory"
tacho record -q -e cpu-clock --threads -o one true
[ -d one ] && [ -f one.old ] || fail "no directory in place of a file"
# Killed: what was written can be read.
tacho record -q -a -e cpu-clock -F 200 --threads -o dead &
pid=$!
sleep 2.6
kill -9 $pid
wait $pid 2>/dev/null || true
n=$(perf_samples dead)
[ "$n" -gt 50 ] || fail "perf reads $n samples of a killed recorder's directory"
refused 127 tacho record --threads -o missing /nonexistent/command
[ ! -e missing ] || fail "a directory is left of a command that could not be started"
refused 1 tacho record -a --threads=nonsense -o x true
refused 1 tacho record -a --threads=0/ -o x true
refused 1 tacho record -a --threads=0/0:0/0 -o x true
refused 129 tacho record -a --threads --overwrite -o x true
refused 129 tacho record -a --threads --switch-output -o x true
refused 129 sh -c 'tacho record -a --threads -o - true >out'
# One of the files cannot be written: there is a message, and process names are recorded anyway.
status=0
(
	ulimit -f 200
	trap '' XFSZ
	tacho record -e raw_syscalls:sys_enter --threads -o full dd if=/dev/zero of=/dev/null bs=1 count=100000 2>err
) || status=$?
[ $status = 1 ] || { cat err; fail "status $status, expected 1"; }
[ "$(grep -c '^tacho record: cannot write the data: ' err)" = 1 ] || { cat err; fail "no message, or several"; }
n=$(perf script -i full -F comm,event 2>/dev/null | grep -c '^ *dd ' || true)
[ "$n" -gt 100 ] || fail "perf reads $n samples of dd"
