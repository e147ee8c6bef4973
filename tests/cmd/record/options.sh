# What each option changes: in the perf_event_attr that the kernel gets, or in the file.
# run: slow
. "$SUPPORT/lib.sh"
. "$SUPPORT/record.sh"
need perf
need_root
need_tracefs
asked() {	# LINE ARGS...: --dump-attr with ARGS shows LINE (a pattern) among the first event's
	asked_line=$1
	shift
	tacho record --dump-attr -e cpu-clock "$@" true >out 2>err || { cat err >&2; fail "record $*"; }
	sed '/^event dummy/,$d' out | grep -q "^$asked_line\$" || { cat out >&2; fail "$asked_line: $*"; }
}
max=$(cat /proc/sys/kernel/perf_event_max_sample_rate)
asked 'sample_freq: 99' -F 99
asked "sample_freq: $max" -F max
asked 'sample_period: 12345' -c 12345
refused "1 129" tacho record -e cpu-clock -F 99999999 --strict-freq true
asked "sample_freq: $max" -F 99999999
grep -q "$max samples a second instead of 99999999" err || { cat err; fail "no message about the lowered frequency"; }
asked 'inherit: 1'
tacho record --dump-attr -e cpu-clock -i true | grep -q '^inherit: 1$' && fail "-i inherits"
asked 'inherit: 1' -p $$
asked 'inherit: 1' -t $$ --inherit
tacho record --dump-attr -e cpu-clock -t $$ true | grep -q '^inherit: 1$' && fail "-t records more than its threads"
asked 'wakeup_events: 1' --no-buffering
asked 'write_backward: 1' --overwrite
asked 'exclude_kernel: 1' --all-user
asked 'exclude_user: 1' --all-kernel
asked 'exclude_callchain_user: 1' -g --kernel-callchains
asked 'exclude_callchain_kernel: 1' -g --user-callchains
asked 'exclude_callchain_user: 1' --call-graph dwarf,1024
asked 'sample_stack_user: 1024' --call-graph dwarf,1024
asked 'use_clockid: 1' -k mono
asked 'clockid: 7' --clockid boottime
asked 'clockid: 4' -k CLOCK_MONOTONIC_RAW
asked 'inherit_stat: 1' -s
# sample_type by bit: RAW 10, ADDR 3, CPU 7, PERIOD 8, WEIGHT_STRUCT 24, PHYS_ADDR 19, CGROUP 21 ...
has_bit() {	# BIT ARGS...
	has_bit=$1
	shift
	type=$(tacho record --dump-attr -e cpu-clock -c 1000000 "$@" true | sed -n 's/^sample_type: //p;/^event dummy/q' | head -n 1)
	[ $(( (type >> has_bit) & 1 )) = 1 ] || fail "no bit $has_bit in $type: $*"
}
has_bit 10 -R
has_bit 7 -R
has_bit 3 -d
has_bit 15 -d
has_bit 7 --sample-cpu
has_bit 8 -P
has_bit 2 -T
has_bit 16 --sample-identifier
has_bit 24 -W
has_bit 17 --transaction
has_bit 19 --phys-data
has_bit 21 --all-cgroups
has_bit 22 --data-page-size
has_bit 23 --code-page-size
has_bit 18 --intr-regs=ip
has_bit 12 --user-regs=ip
tacho record --dump-attr --namespaces --switch-events true | sed '1,/^event dummy/d' >out
grep -q '^namespaces: 1$' out && grep -q '^context_switch: 1$' out || { cat out; fail "not reported"; }
# Branch stacks need hardware support; without it a message says so.
if ! has_pmu; then
	for branches in -b "-j any_call,u" "-j stack,u" "--call-graph lbr"; do
		tacho record -o x $branches -e cpu-clock true 2>err && ! grep -q '^tacho record: ' err && fail "$branches: nothing said"
	done
fi
refused 129 tacho record -j nonsense true
refused 129 tacho record --kernel-callchains true
refused 129 tacho record --user-regs=nonsense true
tacho record --intr-regs=\? 2>&1 | grep -q '^available registers: .*' || fail "no registers listed"
# Targets: threads, processes, users.
"$TEST_BIN/spin" -r runs -c 20 &
target=$!
wait_for 20 test -e runs
for who in "-p $target" "-t $target" "-u root"; do
	tacho record -e cpu-clock -o who $who sleep 0.3 2>err
	tacho script -i who -F pid,comm | grep -q "spin *$target" || { cat err; fail "$who: no samples of spin"; }
done
# One of the threads does not exist: the others are recorded, with a message.
tacho record -e cpu-clock -o who -t $target,4194304 sleep 0.1 2>err || { cat err; fail "a thread too many"; }
grep -q 'threads that have ended are left out' err || { cat err; fail "no note about a thread that has ended"; }
kill $target
# Contents of the file.
tacho record -q -e cpu-clock -B -o none sh -c "$LOOP"
perf report -i none --header-only 2>/dev/null | grep -q '^# missing features:.* BUILD_ID' || fail "-B has build ids"
tacho record -q -e cpu-clock -N -o some sh -c "$LOOP"
tacho record -q -e cpu-clock --buildid-all -o all sh -c "$LOOP; ls / >/dev/null"
[ "$(perf buildid-list -i all | wc -l)" -gt "$(perf buildid-list -i some | wc -l)" ] || fail "--buildid-all"
tacho record -q -a -e cpu-clock --synth no -o bare true
tacho record -q -a -e cpu-clock --synth task -o tasks true
tacho record -q -a -e cpu-clock -o full true
count() { perf report -i "$1" --stats 2>/dev/null | sed -n "s/^ *$2 events: *\([0-9]*\).*/\1/p" | head -n 1; }
[ "$(count full MMAP2)" -gt $(( $(count tasks MMAP2) + 5 )) ] || fail "--synth task has maps"
[ "$(count tasks COMM)" -gt $(( $(count bare COMM) + 3 )) ] || fail "--synth no has names"
tacho record -q -a -e cpu-clock --synth mmap -o maps true
[ "$(count maps COMM)" -gt $(( $(count bare COMM) + 3 )) ] || fail "--synth mmap has maps of nameless tasks"
[ "$(count bare MMAP)" -ge 1 ] || fail "--synth no leaves the kernel out"
tacho record -q -e cpu-clock -k monotonic -o clock true
perf report -i clock --header-only 2>/dev/null | grep -q '^# clockid: monotonic' || fail "no CLOCK_DATA"
tacho record -q -e cpu-clock --timestamp-filename -o stamped true
[ "$(ls stamped.2* | wc -l)" = 1 ] || fail "--timestamp-filename"
tacho record -v -e cpu-clock -vv -o x true 2>&1 | grep -q '^sample_freq: 4000$' || fail "-vv shows no attributes"
for leave_out in "" --exclude-perf; do
	tacho record -q -e raw_syscalls:sys_enter $leave_out -a -o self sleep 0.2 &
	pid=$!
	wait $pid
	n=$(tacho script -i self -F pid,event | grep -c "^ *$pid " || true)
	[ "$leave_out" ] && [ "$n" != 0 ] && fail "--exclude-perf has $n samples of tacho"
	[ "$leave_out" ] || [ "$n" != 0 ] || fail "no samples of tacho itself to leave out"
done
tacho record -q --text-poke -e cpu-clock -a -o poke true || fail "--text-poke"

if [ "$(id -u)" = 0 ]; then	# -r: the recorder has it, the command has not
	tacho record -q -r 7 -e cpu-clock -o real sh -c 'chrt -p $$; chrt -p $PPID' >prio 2>&1 || skip "no chrt, or no -r here"
	grep -q 'policy: SCHED_OTHER' prio && grep -q 'priority: 7$' prio || { cat prio; fail "-r"; }
fi
