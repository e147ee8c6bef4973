# Recordings that no kernel makes: every view ends with a status and in bounded memory, and what can be read is shown.
. "$SUPPORT/lib.sh"
need python3
try() {	# WORDS...: a view of hostile.data
	status=$(status_of timeout 30 tacho sched "$@" -i hostile.data)
	[ "$status" -lt 2 ] || fail "$kind: $*: status $status: $(tail -n 20 err)"
	! grep -qE 'Sanitizer|runtime error' err || fail "$kind: $*: $(head -n 20 err)"
	[ "$status" = 0 ] || [ -s err ] || fail "$kind: $*: fails without a word"
	[ "$(wc -c <out)" -lt 100000000 ] || fail "$kind: $*: writes $(wc -c <out) bytes"
}
for kind in plain big cpus offsets sizes tids times cut long many "cpus tids times" "big offsets cut" "long cut tids"; do
	python3 "$SUPPORT/sched-recording" hostile.data $kind
	try latency
	try latency -p --percentiles --json
	try timehist -w -M -V -n --state --show-prio -P -S
	try timehist -I -S
	try timehist --json -w -M
	try timehist -s --time 1.001,1.01
	try map
	try map --compact --task-name task --fuzzy-name
	try export -f perfetto
	try export -f ftrace
	try export -f chrome
	python3 -c "import json; json.load(open('out'))" || fail "$kind: not JSON"
done
kind=plain
python3 "$SUPPORT/sched-recording" hostile.data
try timehist
grep -qE '^ +1\.002000 \[0000\]  task11\[11\] +0\.000 +0\.500 +1\.000 $' out || fail "$(cat out)"
python3 "$SUPPORT/sched-recording" big.data big
tacho sched timehist -w -M -i big.data >big.txt
tacho sched timehist -w -M -i hostile.data | diff - big.txt || fail "the other byte order"
kind=many
python3 "$SUPPORT/sched-recording" hostile.data many
[ "$(status_of tacho sched replay -i hostile.data)" = 1 ] && grep -q 'more than 8000 tasks' err || fail "replay: $(cat err)"
python3 "$SUPPORT/sched-recording" hostile.data cut
[ "$(status_of tacho sched timehist -i hostile.data)" = 1 ] && grep -q 'the file ends within a record' err && [ "$(wc -l <out)" -ge 5 ] ||
	fail "cut: $(cat out err)"
# A field of a format that is outside of the samples.
python3 "$SUPPORT/sched-recording" hostile.data offsets
[ "$(status_of tacho sched latency -i hostile.data)" = 0 ] && grep -q 'records are damaged' err || fail "offsets: $(cat err)"
