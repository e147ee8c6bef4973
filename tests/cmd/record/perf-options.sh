# Options of perf 7: data mappings, memory sources, recordings without samples, no delay; and the name perf in messages.
# run: both
. "$SUPPORT/lib.sh"
. "$SUPPORT/record.sh"
asked() {	# EVENT LINE ARGS...: --dump-attr with ARGS shows LINE (a pattern) for the event
	asked_event=$1
	asked_line=$2
	shift 2
	tacho record --dump-attr -e cpu-clock:u "$@" true >out 2>err || { cat err >&2; fail "record $*"; }
	sed -n "/^event $asked_event\$/,/^\$/p" out | grep -q "^$asked_line\$" || { cat out >&2; fail "$asked_line: $*"; }
}
data_maps() {	# FILE: mappings that are not executable
	tacho script -i "$1" --show-mmap-events 2>err | grep -c 'PERF_RECORD_MMAP2.* r[w-]-[ps] ' || true
}
asked dummy:u 'mmap_data: 1' --data-mmap
asked dummy:u 'mmap_data: 1' -d
tacho record -q -e cpu-clock:u -o plain ls / >out
tacho record -q -e cpu-clock:u --data-mmap -o data ls / >out
tacho record -q -e cpu-clock:u -d -o address ls / >out
[ "$(data_maps plain)" = 0 ] || fail "mappings of data without an option"
[ "$(data_maps data)" -gt 3 ] || fail "no mappings of data with --data-mmap"
[ "$(data_maps address)" -gt 3 ] || fail "no mappings of data with -d"
asked cpu-clock:u 'sample_type: 0x18107' --sample-mem-info	# DATA_SRC
asked cpu-clock:u 'read_format: 0x17' --running-time		# times
# The option whose last spelling counts.
asked dummy:u 'build_id: 1' --no-buildid-mmap --buildid-mmap
tacho record --dump-attr -e cpu-clock:u --no-buildid-mmap true | grep '^build_id: 1' && fail "--no-buildid-mmap"
tacho record -e cpu-clock:u -D 60000 --no-delay -o file sh -c "$LOOP" 2>err || { cat err; fail "--no-delay"; }
[ "$(said err)" -gt 0 ] && ! grep -q 'Events disabled' err || { cat err; fail "--no-delay waits"; }
# No samples, but counts of threads.
tacho record -e cpu-clock:u -n -s -o none sh -c "($LOOP); :" 2>err || { cat err; fail "-n"; }
[ "$(said err)" = 0 ] || { cat err; fail "samples in spite of -n"; }
tacho script -i none --show-task-events 2>err | grep -q 'PERF_RECORD_COMM exec: sh:' || { cat err; fail "-n: no tasks"; }
tacho report -i none --stats >out 2>err || true
grep -q 'READ events: *[1-9]' out || { cat out; fail "-n -s: no counts"; }
# Tuning options that change nothing here: one note each, and the recording is made.
tacho record -e cpu-clock:u -o tuned --aio=2 --aio --mmap-flush 4K --affinity cpu --proc-map-timeout 500 --num-thread-synthesize 2 \
	--group --debuginfod --vmlinux x sh -c "$LOOP" 2>err || { cat err; fail "harmless options are refused"; }
for option in aio mmap-flush affinity proc-map-timeout num-thread-synthesize group debuginfod vmlinux; do
	[ "$(grep -c "^tacho record: option '--$option' changes nothing here: " err)" = 1 ] || { cat err; fail "$option: not one note"; }
done
[ "$(said err)" -gt 0 ] || { cat err; fail "no samples"; }
# A refusal says why.
refused 129 tacho record --kcore true
grep -q "use .archive. to save objects" err || { cat err; fail "no reason"; }
# Without a command and a target the whole machine is recorded, and a message says so.
ln -s "$TACHO" perf
bare() {	# COMMAND...: what is printed by a recording that is ended after a moment
	"$@" -e cpu-clock:u -o bare 2>err &
	pid=$!
	wait_for 20 test -e bare
	wait_for 20 heeds $pid
	sleep 0.2
	kill -INT $pid
	wait $pid || true
	rm -f bare bare.old
}
[ "$(cat /proc/sys/kernel/perf_event_paranoid)" -le 0 ] || [ "$(id -u)" = 0 ] || exit 0
bare tacho record
grep -q '^tacho record: no command, process or CPU is given: recording the whole machine until Ctrl-C$' err || { cat err; fail "no message"; }
bare tacho record -q
[ ! -s err ] || { cat err; fail "-q prints"; }
bare tacho record -a
! grep -q 'whole machine' err || { cat err; fail "a message although -a is given"; }
bare ./perf record
grep -q '^perf record: no command' err && grep -q '^\[ perf record: Woken up ' err && grep -q '^\[ perf record: Captured and wrote ' err &&
	! grep tacho err || { cat err; fail "messages have another name"; }
