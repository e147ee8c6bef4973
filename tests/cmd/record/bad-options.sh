# Invalid options: one message with the position, and nothing is written.
. "$SUPPORT/lib.sh"
bad() {		# STATUS ARGS...
	bad_status=$1
	shift
	refused "$bad_status" tacho record "$@"
	[ ! -e perf.data ] || fail "a file was written: $*"
}
bad 129 -e cylces true
bad 1 -e duration_time true
bad 1 -e cpu-clock/time=0/ true
bad 129 --latency -a true
bad 129 --latency -C 0 true
bad 129 -F 0 true
bad 129 -F fast true
bad 129 -F 100 -c 100 true
bad 129 -c 0 true
bad 129 --call-graph frame true
bad 129 --call-graph dwarf,70000 true
bad 129 --call-graph fp,512 true
bad 129 -j sideways true
bad 129 --user-regs=nothing true
bad 129 -k sundial true
bad 129 -m 0 true
bad 129 -m many true
bad 129 -z99 true
bad 129 --switch-output=often true
bad 129 --switch-max-files 2 true
bad 129 --max-size big true
bad 129 --synth everything true
bad 129 -a -p 1 true
bad 129 -p 1 -t 1 true
bad 129 -p 1 -u root true
bad 129 -t 1 -u root true
bad 129 -p x true
bad 129 -C x true
bad 129 -u no-such-user true
bad 129 -G / true
bad 129 --filter 'id == 1' true
bad 129 --exclude-perf -e cpu-clock true
bad 129 --control nowhere true
bad 129 --per-thread -a true
bad 129 --no-such-option true
bad 1 -e cpu-clock -p 4194304
bad 1 -e cpu-clock -o no/such/folder/file true
bad 1 -e cpu-clock --strict-freq -F 100000000 true
tacho record --intr-regs=? 2>&1 | grep -qi 'available registers:.* ip' || fail "no list of registers"
tacho record '--intr-regs=?' 2>err
[ -z "$(tr ' ' '\n' <err | sort | uniq -d)" ] || { cat err; fail "a register is listed twice"; }
# For tracing units that are missing, the message says so.
[ -d /sys/bus/event_source/devices/intel_pt ] || {
	refused 129 tacho record -e intel_pt// true
	grep -q 'this machine has no Intel Processor Trace' err || { cat err; fail "no plain word about intel_pt"; }
	refused 129 tacho record -S -e cpu-clock true
	refused 129 tacho record --aux-sample -e cpu-clock true
}
refused 129 tacho record -Sx true
refused 129 tacho record --aux-sample=99K true
refused 129 tacho record -S --switch-output true
refused 129 tacho record -m 1, true
