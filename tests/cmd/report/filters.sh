# Filters take samples away; shares are of all samples, or of those that are left.
. "$SUPPORT/lib.sh"
. "$SUPPORT/stored.sh"
need jq
stored g.data live_perf record -q -e cpu-clock:u -F 4000 -g -o g.data sh -c 'i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done; od -v /usr/bin/env >/dev/null; od -v /usr/bin/env >/dev/null'
samples() { tacho report -i g.data --json --percentage relative "$@" | jq '[.events[].samples] | add // 0'; }
all=$(samples)
of_sh=$(samples -c sh) of_od=$(samples -c od)
[ $((of_sh + of_od)) -le "$all" ] && [ "$of_sh" -gt 0 ] || fail "comms: $of_sh + $of_od of $all"
[ "$(samples -c sh,od)" = $((of_sh + of_od)) ] || fail "two comms are not the sum of both"
half=$(samples --time 0%-50%) rest=$(samples --time 50%-100%)
[ $((half + rest)) = "$all" ] || fail "time: $half + $rest of $all"
tenths=0
for i in 1 2 3 4 5 6 7 8 9 10; do tenths=$((tenths + $(samples --time 10%/$i))); done
[ $tenths = "$all" ] || fail "tenths: $tenths of $all"
tid=$(tacho report -i g.data --json -s pid | jq '.events[0].entries[0].tid')
[ "$(samples --tid "$tid")" = "$(tacho report -i g.data --json -s pid | jq '.events[0].entries[0].samples')" ] ||
	fail "one thread has other samples than its row"
[ "$(samples --pid 999999999)" = 0 ] || fail "a process that is not there has samples"
# A recording with one sample has it in all of its parts, as in perf.
"$TEST_BIN/make-samples" one one.data
tacho report --stdio -i one.data --time 30%-60% -s comm | grep -q '100.00%  made' || fail "the only sample is in no part"
refused 129 tacho report -i g.data --time 5
refused 129 tacho report -i g.data --pid x
refused 129 tacho report -i g.data -C 0
grep -q 'on which CPU' err
