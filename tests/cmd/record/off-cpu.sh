# --off-cpu: how long threads were blocked, by stack, within 5 % of what the program measured itself.
# run: both
. "$SUPPORT/lib.sh"
. "$SUPPORT/record.sh"
need python3
tacho record -q --off-cpu -o probe.data true 2>err || skip "cannot record here: $(head -n 1 err)"

# FILE: "FUNCTION SECONDS" of the functions of blocker, from the samples of offcpu-time
blocked() {
	tacho report -i "$1" --json -s symbol 2>report.err | python3 -c '
import json, sys
for event in json.load(sys.stdin)["events"]:
    if event["name"] == "offcpu-time":
        for e in event["entries"]:
            if (e["symbol"] or "").startswith("by_"):
                print(e["symbol"], e["children_period"] / 1e9)'
}
# A program counts the kernel's part of a switch as CPU time, some 50 us each; with a fast disk that is more than 5 %.
agrees() {	# FILE: with what the program printed into ./said
	blocked "$1" >got
	awk 'NR == FNR { said[$1] = $2; next }
	     { off = $2 - said[$1]; if (off < 0) off = -off; n++; if (off > 0.05 * said[$1] && off > 0.003) { print $1, $2, "instead of", said[$1]; bad = 1 } }
	     END { exit bad || n != 4 }' said got
}
# Frame pointers do not show who called a function of the C library.
for mode in "" "--call-graph dwarf --off-cpu-thresh 0" "--call-graph auto --off-cpu-thresh 100000" "-z -e task-clock"; do
	tries=0
	while :; do
		tacho record --off-cpu $mode -o off.data "$TEST_BIN/blocker" file 2 >said 2>err || { cat err; fail "record --off-cpu $mode"; }
		! agrees off.data >why || break
		tries=$((tries + 1))
		# Waiting for a CPU is not blocking, but the program cannot tell: where it was preempted, try again.
		[ $tries -lt 5 ] && ! grep -q '^preempted 0$' said || { cat said got why; fail "times of: $mode"; }
	done
	[ "$(said err)" = "$(tacho script -i off.data -F event | grep -c .)" ] || { cat err; tacho script -i off.data -F event | sort | uniq -c; fail "another number of samples: $mode"; }
	! tacho report -i off.data --stats | grep -q SWITCH || fail "records of context switches are in the file: $mode"
	# Every sample has its command, also that of a thread that has ended.
	tacho script -i off.data -F comm,tid,event | awk '$1 != "blocker" && $1 != "record" && $1 != "tacho" && $1 != "perf-exec"' >others
	[ ! -s others ] || { cat others; fail "samples without a command"; }
done
# Below the threshold there is one sample per thread and stack, above it one per time.
tacho record -q --off-cpu --off-cpu-thresh 0 -o each.data "$TEST_BIN/blocker" file 4 >said
tacho record -q --off-cpu --off-cpu-thresh 100000 -o sums.data "$TEST_BIN/blocker" file 4 >said
count() { tacho script -i "$1" -F event | grep -c offcpu-time; }
[ "$(count each.data)" -ge 44 ] && [ "$(count sums.data)" -lt "$(count each.data)" ] || fail "threshold: $(count each.data), $(count sums.data)"
tacho script -i each.data -F event,ip,sym | awk '/offcpu-time/ { n = 0 } /by_sleep/ { n++; seen = 1 } END { exit !seen }' || fail "no stack"
# Context switches are kept if asked for.
tacho record -q --off-cpu --switch-events -o switches.data "$TEST_BIN/blocker" file >said
tacho report -i switches.data --stats | grep -q SWITCH || fail "no records of context switches"
# One picture of both.
tacho flame --off-cpu -F 999 -o both.svg sh -c '"$0" file; "$1" -t 1 -m 50' "$TEST_BIN/blocker" "$TEST_BIN/burn" >said 2>err || { cat err; fail "flame --off-cpu"; }
grep -q 'samples of wall-time' err && grep -q '<title>by_sleep' both.svg && grep -q '<title>\[off-CPU\]' both.svg || { cat err; fail "the picture"; }
tacho flame -i off.data -e offcpu-time -o off.svg 2>err && ! grep -q '\[off-CPU\]' off.svg || fail "offcpu-time alone"
tacho flame --off-cpu -F 1 -o idle.svg sleep 0.2 2>err && grep -q 'samples of offcpu-time' err || { cat err; fail "only off the CPU"; }
! grep -q 'not in the picture' err || { cat err; fail "only off the CPU"; }
# perf reads the file; perf 6.1 only if it is not compressed.
if command -v perf >/dev/null; then
	tacho inject -i off.data -o plain.data || fail "inject"
	perf script -i plain.data -F comm,event,period 2>perf.err | grep -q 'offcpu-time' && [ ! -s perf.err ] || { cat perf.err; fail "perf script"; }
fi
refused 129 tacho record --off-cpu --threads true
refused 129 tacho record --off-cpu --all-user true
