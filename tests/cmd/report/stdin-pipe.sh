# Without -i, all readers take the recording from stdin if that is a pipe, as in perf, and never an old perf.data in
# its place; from perf.data if stdin is something else.
. "$SUPPORT/lib.sh"
need jq
cp "$TEST_BIN/spin" old
cp "$TEST_BIN/spin" fresh
tacho record -q -e cpu-clock -F 2000 -o perf.data ./old -c 0.05 -t 0 2>err || skip "cannot record: $(head -n 1 err)"
tacho record -q -e cpu-clock -F 2000 -o - ./fresh -c 0.05 -t 0 >stream 2>err

has_fresh() {	# COMMAND...: reads the stream
	cat stream | "$@" >out 2>err || { cat err >&2; fail "status: $*"; }
	grep -q fresh out || { head -n 5 out err >&2; fail "not the stream: $*"; }
}
has_fresh tacho report --stdio -s comm,dso
has_fresh tacho script -F comm,ip
has_fresh tacho buildid-list
has_fresh tacho export -f folded -o -
has_fresh tacho flame -o -
cat stream | tacho heatmap -o - 2>err | grep -q 'class="heatmap"' || fail "heatmap: $(cat err)"
has_fresh tacho data convert --to-json -
cat stream | tacho evlist -v | grep -q 'cpu-clock' || fail "evlist"
tacho record -q -e cpu-clock -F 2000 ./fresh -c 0.05 -t 0 2>err | tacho report --stdio -s comm -q | grep -q fresh ||
	fail "record | report"
{ head -c 5 stream; sleep 0.2; tail -c +6 stream; } | tacho report --stdio -s comm -q | grep -q fresh || fail "in two parts"
tacho stat record -o - -e task-clock ./fresh -t 0 2>/dev/null >counts
cat counts | tacho stat report 2>&1 | grep -q task-clock || fail "stat report"

# A stdin that is not a pipe is not read, and -i has precedence over a pipe.
tacho report --stdio -q -s comm </dev/null | grep -q '.' || fail "/dev/null"
tacho report --stdio -q -s comm <stream | grep -q '.' || fail "a file as stdin"
: | tacho report --stdio -q -s comm -i perf.data | grep -q '.' || fail "-i"
: | tacho buildid-list -k >/dev/null || fail "buildid-list -k"

# A pipe without a recording.
none() {	# TEXT COMMAND...: of an empty pipe
	none_text=$1
	shift
	set +e
	: | "$@" >out 2>err
	none_status=$?
	set -e
	[ $none_status = 1 ] && [ ! -s out ] && grep -q "$none_text" err || { cat out err >&2; fail "empty pipe: $*"; }
}
for reader in report script evlist buildid-list "export -f folded" "data convert --to-json -" "stat report"; do
	none "it ended without a recording; use '-i perf.data'" tacho $reader
done
set +e
echo "a line of a list of files" | tacho report >out 2>err
status=$?
set -e
[ $status = 1 ] && grep -q "does not contain a recording" err || fail "another stream: $(cat err)"
# A pipe that stays silent: after a while it says what it waits for.
mkfifo silent
exec 3<>silent
tacho report <silent 3<&- 2>waiting &
wait_for 30 grep -q "waiting for a recording on stdin.*use '-i perf.data'" waiting
kill $!
