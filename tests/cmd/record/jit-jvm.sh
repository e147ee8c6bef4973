# record --jit asks running JVMs for their functions, also in a container and of another user, and sends SIGQUIT to
# no other process.
. "$SUPPORT/lib.sh"
need java javac
java_version=$(java -version 2>&1 | sed -n 's/.*version "\([0-9]*\).*/\1/p')
[ "${java_version:-0}" -ge 17 ] || skip "needs Java 17"
cat >Spin.java <<'END'
public class Spin {
	static volatile double sum;
	static double innerFunction(double from) {
		double s = 0;
		for (int i = 0; i < 1000; i++)
			s += Math.sqrt(from + i);
		return s;
	}
	static double outerFunction(double from) {
		double s = 0;
		for (int i = 0; i < 100; i++)
			s += innerFunction(from + i);
		return s;
	}
	public static void main(String[] args) throws Exception {
		long end = System.currentTimeMillis() + 1000L * Integer.parseInt(args[0]);
		while (System.currentTimeMillis() < end)
			sum += outerFunction(sum % 7);
	}
}
END
javac Spin.java
chmod 755 . && chmod 644 Spin.class
options="-XX:+PreserveFramePointer -XX:TieredStopAtLevel=1 -Xshare:auto"
is_spinning() {	# PID: the JVM has compiled the loop, and handles signals
	grep -q 'Signal Dispatch' /proc/$1/task/*/comm && [ "$(ps -o times= -p $1)" -ge 1 ]
}
expect_functions() {	# FILE
	tacho script -i $1 -F ip,sym >syms 2>err || fail "$(cat err)"
	grep -q 'double Spin[.]' syms || fail "$1: no Java functions: $(sort syms | uniq -c | sort -rn | head -5)"
}

# A JVM by its pid. The files of the protocol do not remain.
java $options Spin 60 & jvm=$!
trap 'kill -9 $jvm $other $outer 2>/dev/null || :; wait 2>/dev/null || :; rm -f /tmp/perf-$jvm.map /tmp/.java_pid$jvm /tmp/perf-$inner.map' EXIT
other= outer= inner=
wait_for 30 is_spinning $jvm
tacho record -q -e cpu-clock --jit -p $jvm -o file -- sleep 0.5
expect_functions file
[ ! -e /tmp/.attach_pid$jvm ] || fail "the file of the request remains"
rm -f /tmp/perf-$jvm.map

# Live: the names are there at the second refresh at the latest.
rm -f /tmp/perf-$jvm.map
tacho top --jit --stdio -e cpu-clock -p $jvm -d 1 --interval-count 3 </dev/null >top.out 2>err || fail "top: $(cat err)"
grep -q 'double Spin[.]' top.out || fail "top: no Java functions: $(tail -n 12 top.out)"

# All JVMs.
if [ "$(id -u)" = 0 ]; then
	tacho record -q -e cpu-clock --jit -a -o file -- sleep 0.5
	expect_functions file
fi

# A process that handles SIGQUIT but is not a JVM gets no signal, even if it has a thread that is called like HotSpot's.
need python3
cat >other.py <<'END'
import signal, time
signal.signal(signal.SIGQUIT, lambda *_: open("quit", "w"))
open("/proc/self/comm", "w").write("Signal Dispatch")
open("ready", "w")
while True:
    time.sleep(0.05)
END
python3 other.py & other=$!
wait_for 20 test -e ready
tacho record -q -e cpu-clock --jit -p $other -o file -- sleep 0.3
[ ! -e quit ] || fail "a process that is not a JVM got SIGQUIT"
kill -QUIT $other
wait_for 20 test -e quit

# One that cannot be asked is reported, and recorded nevertheless.
java -XX:+DisableAttachMechanism $options Spin 60 & outer=$!
wait_for 30 is_spinning $outer
tacho record -e cpu-clock --jit -p $outer -o file -- sleep 0.3 2>err
grep -q 'DisableAttachMechanism, so it cannot be asked' err || fail "no reason: $(cat err)"
kill -9 $outer
wait $outer || :

# A container: another pid namespace, /tmp and user.
[ "$(id -u)" = 0 ] || exit 0
need unshare setpriv
unshare -pmf --mount-proc sh -c "exec 3<Spin.class; mount -t tmpfs -o mode=1777 tmpfs /tmp; cat <&3 >/tmp/Spin.class
	exec setpriv --reuid 12345 --regid 12345 --clear-groups java $options -cp /tmp Spin 60" 2>err & outer=$!
wait_for 20 pgrep -P $outer -x java
inner=$(pgrep -P $outer -x java)
wait_for 30 is_spinning $inner
tacho record -q -e cpu-clock --jit -p $inner -o file -- sleep 0.5
[ "$(sed -n 's/^NSpid:.*\t//p' /proc/$inner/status)" = 1 ] || fail "the container has no pid namespace"
kill -9 $inner
wait $outer || :
expect_functions file
