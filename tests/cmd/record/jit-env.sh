# --jit: what runtimes need to write maps is in the command's environment, beside what the user has set there.
. "$SUPPORT/lib.sh"
unset NODE_OPTIONS JAVA_TOOL_OPTIONS PYTHON_PERF_JIT_SUPPORT PYTHONPERFSUPPORT DOTNET_PerfMapEnabled
variables() {
	grep -E '^(NODE_OPTIONS|JAVA_TOOL_OPTIONS|PYTHON_PERF_JIT_SUPPORT|PYTHONPERFSUPPORT|DOTNET_PerfMapEnabled)=' "$1" | sort
}
tacho record -q -e cpu-clock --jit -o file -- env >env.out
variables env.out | sed 's/ -agentpath:[^ ]*libtacho-jvmti.so$//' >new
cat >want <<'END'
DOTNET_PerfMapEnabled=1
JAVA_TOOL_OPTIONS=-XX:+PreserveFramePointer -XX:+IgnoreUnrecognizedVMOptions -XX:+UnlockDiagnosticVMOptions -XX:+DumpPerfMapAtExit
NODE_OPTIONS=--perf-basic-prof --interpreted-frames-native-stack
PYTHONPERFSUPPORT=1
PYTHON_PERF_JIT_SUPPORT=1
END
diff want new
NODE_OPTIONS=--title=x PYTHONPERFSUPPORT=0 tacho record -q -e cpu-clock --jit -o file -- env >env.out
[ "$(sed -n 's/^NODE_OPTIONS=//p' env.out)" = "--title=x --perf-basic-prof --interpreted-frames-native-stack" ]
[ "$(sed -n 's/^PYTHONPERFSUPPORT=//p' env.out)" = 0 ]
tacho record -q -e cpu-clock -o file -- env >env.out
[ -z "$(variables env.out)" ] || fail "variables are set without --jit"
# The times of the recording are those of a jitdump.
tacho record -q -e cpu-clock --jit -o file -- true
tacho evlist -v -i file | grep -q 'clockid: 1' || fail "the clock is not CLOCK_MONOTONIC"
