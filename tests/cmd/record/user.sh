# -u: processes of the user that start during the recording are recorded as well, others are not; -a may be given.
. "$SUPPORT/lib.sh"
. "$SUPPORT/record.sh"
need_root
need setpriv
as_user() {
	setpriv --reuid 12345 --regid 12345 --clear-groups "$@"
}
comms() {	# the comms of the samples, with their numbers
	tacho script -i file -F comm 2>err | sort | uniq -c
}
cp "$TEST_BIN/spin" later
cp "$TEST_BIN/spin" other
chmod 755 later other
for all in "" -a "-C 0"; do
	tacho record -e cpu-clock $all -u 12345 -o file sleep 1.2 2>err &
	pid=$!
	wait_for 20 is_counting $pid
	as_user ./later -c 0.3 -t 0
	./other -c 0.2 -t 0
	wait $pid || { cat err; fail "record $all -u"; }
	if grep -q 'only the processes that user 12345 has now' err; then
		grep -q 'kernel cannot filter\|without CAP_BPF' err || { cat err; fail "no reason"; }
		skip "no BPF programs here"
	fi
	comms >got
	[ "$all" = "-C 0" ] || grep -q ' later *$' got || { cat got err; fail "record $all -u: no samples of a later process"; }
	! grep ' other *$' got || fail "record $all -u: samples of another user"
	[ "$all" = "-C 0" ] || tacho report -i file --stdio -s comm,sym 2>&1 | grep -q 'later .* \(main\|now_s\)$' || fail "no names"
done
# Tracepoints and rings per thread cannot be filtered: the user's present processes are recorded, and a message says so.
as_user ./later -t 30 &
target=$!
trap 'kill $target' EXIT
tacho record -e cpu-clock --per-thread -u 12345 -o file sleep 0.2 2>err || { cat err; fail "--per-thread"; }
grep -q 'only the processes that user 12345 has now, and children of these, are recorded (with rings per thread)' err ||
	{ cat err; fail "no message"; }
