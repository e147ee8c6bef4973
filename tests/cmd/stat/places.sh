# -A and --per-...: the names of places in text, CSV and JSON, and that their sums agree.
# run: both
. "$SUPPORT/lib.sh"
tacho stat -a -x, -e context-switches sleep 0.05 2>err || skip "may not count CPUs: $(cat err)"
show() {
	tacho stat -a -e context-switches "$@" -x, sleep 0.05 2>rows
	awk -F, '{ print NF }' rows | sort -u
	head -n 1 rows | cut -d, -f1 | sed 's/[0-9][0-9]*/N/g'
	tacho stat -a -e context-switches "$@" -j sleep 0.05 2>rows
	python3 -c 'import json; print(*list(json.loads(open("rows").readline()))[0:2])'
}
show -A
show --per-core
show --per-die
show --per-socket
show --per-node
show --per-cluster
cpus=$(getconf _NPROCESSORS_ONLN)
tacho stat -a -A -x, -e cpu-clock sleep 0.1 2>rows
[ "$(wc -l <rows)" = "$cpus" ] || fail "$(wc -l <rows) rows for $cpus CPUs"
tacho stat -a --per-socket -x, -e cpu-clock sleep 0.1 2>rows
[ "$(awk -F, '{ n += $2 } END { print n }' rows)" = "$cpus" ] || fail "counters: $(cat rows)"
own_time() {	# whether one CPU counts its time
	tacho stat -C 0 --json -e cpu-clock sleep 0.5 2>one.json
	python3 -c '
import json
r = json.load(open("one.json"))
assert len(r["events"]) == 1, r
assert abs(r["events"][0]["value"] / 1000 / r["elapsed_s"] - 1) < 0.2, r'
}
# Two clocks, read one after the other: again, if the machine was paused in between.
own_time || own_time || own_time || fail "one CPU counts its time"
tacho stat -a --per-core -e cs sleep 0.01 2>text
grep -Eq '^S[0-9]+-D[0-9]+-C[0-9]+ +[0-9]+ +[0-9]+ +cs' text || fail "$(cat text)"
refused 129 tacho stat --per-core -e cs true
refused 129 tacho stat -a -A --per-core -e cs true
refused 129 tacho stat -a --per-cache=L0x -e cs true
# A CPU that is not online is left out, with a note; the others are counted.
tacho stat -C 0,4095 -e cpu-clock sleep 0.05 2>text
grep -Eq '^ +[0-9.]+ msec cpu-clock' text || fail "$(cat text)"
grep -q 'not online are left out: 4095' text || fail "$(cat text)"
