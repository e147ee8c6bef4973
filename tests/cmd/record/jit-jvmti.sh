# run: plain
# The agent for JVMs: names and source lines of Java functions, also of inlined code, with a command (record --jit) and in a
# JVM that loads it while it runs.
. "$SUPPORT/lib.sh"
need java javac jcmd
agent=$BUILD/src/jvmti/libtacho-jvmti.so
[ -e "$agent" ] || skip "the agent for JVMs is not built"
cat >Spin.java <<'END'
package org.example;
public class Spin {
	static volatile double sum;
	static double inner(double from) {
		double s = 0;
		for (int i = 0; i < 1000; i++)
			s += Math.sqrt(from + i);	// line 7
		return s;
	}
	static double outer(double[] values, String name, long times) {
		double s = name.length();
		for (double v : values)
			for (long i = 0; i < times; i++)
				s += inner(v + i);
		return s;
	}
	public static void main(String[] args) throws Exception {
		long end = System.currentTimeMillis() + 1000L * Integer.parseInt(args[0]);
		while (System.currentTimeMillis() < end)
			sum += outer(new double[] { sum % 7, 2, 3 }, "name", 30);
	}
}
END
mkdir classes
javac -d classes Spin.java
expect_lines() {	# FILE LINES: a pattern
	tacho script -i "$1" -F ip,sym,srcline >lines 2>err || fail "$(cat err)"
	grep -A 1 'double org.example.Spin' lines | grep -q "Spin.java:$2" ||
		fail "$1: no lines of the loop: $(sort lines | uniq -c | sort -rn | head -n 8)"
}
tacho record -q --jit --call-graph auto -e cpu-clock -F 1999 -o command.data -- java -cp classes org.example.Spin 3 >out 2>err ||
	skip "cannot record java here: $(cat err)"
dump=$(tacho script -i command.data --show-mmap-events | grep -o '/tmp/jit-[0-9]*[.]dump' | head -n 1)
[ -e "$dump" ] || fail "--jit did not load the agent: $(cat err)"
expect_lines command.data '[67]$'
rm -f "$dump" "$(echo "$dump" | sed 's,jit-\(.*\)dump,perf-\1map,')"
java -Xlog:disable -XX:+PreserveFramePointer "-agentpath:$agent=$PWD" -cp classes org.example.Spin 3 &
jvm=$!
tacho record -q -k mono --call-graph auto -e cpu-clock -F 1999 -p $jvm -o option.data
wait $jvm
expect_lines option.data '[67]$'
tacho report -i option.data --stdio --no-children -g none -s sym >report 2>err
grep -Eq 'double org.example.Spin.(outer\(double\[\], java.lang.String, long\)|inner\(double\))' report || fail "names: $(head -n 20 report)"
rm -f jit-$jvm.dump

# Loaded by a running JVM: functions that were compiled before are there as well.
java -XX:+PreserveFramePointer -cp classes org.example.Spin 60 & jvm=$!
trap 'kill -9 $jvm 2>/dev/null || :; rm -f /tmp/.java_pid$jvm' EXIT
wait_for 30 sh -c "grep -q 'Signal Dispatch' /proc/$jvm/task/*/comm && [ \"\$(ps -o times= -p $jvm)\" -ge 2 ]"
jcmd $jvm JVMTI.agent_load "$agent" "$PWD" >jcmd.out 2>&1 || fail "the agent is not loaded: $(cat jcmd.out)"
tacho record -q -k mono --call-graph auto -e cpu-clock -F 1999 -p $jvm -o attached.data -- sleep 1
expect_lines attached.data '[0-9]'	# of the outer function: the JVM no longer tells what was inlined

# A dump that cannot be written does not matter to the JVM.
java -agentpath:$agent=/nonexistent -cp classes org.example.Spin 0 || fail "the JVM ends with $?"
