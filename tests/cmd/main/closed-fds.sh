# With 0, 1 or 2 closed no descriptor of tacho's takes their place: the command runs, finds them
# closed as they were, and an output that could not be written fails.
. "$SUPPORT/lib.sh"
tacho stat -o rows -x, -e page-faults sh -c 'ls /proc/self/fd | tr "\n" " " >fds' <&- >&- 2>&- ||
	fail "status $?"
grep -q ',page-faults,' rows || fail "$(cat rows)"
for fds in 0 '0 1' '0 1 2'; do
	close=$(for fd in $fds; do printf '%s>&- ' $fd; done)
	eval "tacho stat -o rows -x, -e page-faults true $close" || fail "closed $fds: status $?"
	grep -q ',page-faults,' rows || fail "closed $fds: $(cat rows)"
	eval "tacho stat -o rows ./nothing $close" 2>err && fail "closed $fds: nothing ran"
done
! tacho stat -e page-faults true 2>&- || fail "unwritten result"
! tacho version >&- 2>err || fail "unwritten version"
# The words of a refusal do not open the gate that holds the command.
many=$(printf 'page-faults,%.0s' $(seq 100))cs
( ulimit -n 16; tacho stat -e "$many" touch ran <&- 2>&- ) && fail "16 descriptors were enough"
sleep 0.1
[ ! -e ran ] || fail "the command ran although it was refused"
