# The continuous profile has whole stacks of programs that use 45 kB of stack without frame pointers, and counts those that it
# cannot follow; samples with small stacks are stored without the unused rest of the copy.
# run: slow
. "$SUPPORT/lib.sh"
need python3 cc
[ "$(getconf _NPROCESSORS_ONLN)" -le 8 ] || skip "with more CPUs less of the stacks is copied"
cat >deeply.c <<'END'
#include <stdlib.h>
#include <time.h>
volatile long sink;
__attribute__((noinline, noclone)) long level(int n, double until)
{
	volatile char space[450];
	long got = 0;
	space[n % 450] = 1;
	if (n)
		got = level(n - 1, until);
	else
		while ((double)clock() / CLOCKS_PER_SEC < until)
			for (int i = 0; i < 10000; i++)
				sink += i;
	return got + space[n % 450];
}
int main(int argc, char **argv)
{
	return argc > 2 ? (int)level(atoi(argv[1]), atof(argv[2])) & 1 : 2;
}
END
cc -O1 -fomit-frame-pointer -o deeply deeply.c
cp deeply toodeep
PYTHONPATH=$SUPPORT python3 - <<'END'
from agent_profile import *

agent = Agent('[profile]\nfrequency = 19\nwindow = "1s"\nevent = "cpu-clock"\n')
agent.start()
agent.needs_profile()
started = now_ms()
for program, levels in ("deeply", 90), ("toodeep", 400):		# 45 and 200 kB
    subprocess.run(["./" + program, str(levels), "2"], check=False)
ended = now_ms()
agent.settle(ended)
folded = agent.get("/api/v1/flame", text=True, **{"from": started, "to": ended, "format": "folded"})

def stacks(comm):
    lines = [line.rsplit(" ", 1) for line in folded.splitlines() if line.startswith(comm + ";")]
    return [(stack.split(";")[1:], int(n)) for stack, n in lines if "level" in stack]

whole = sum(n for frames, n in stacks("deeply") if "main" in frames and frames.count("level") == 91)
everything = sum(n for _, n in stacks("deeply"))
check(everything > 15 and whole >= 0.97 * everything, f"{whole} of {everything} stacks are whole: {stacks('deeply')}")
check(sum(n for _, n in stacks("toodeep")) > 15 and not any("main" in frames for frames, _ in stacks("toodeep")), "200 kB were copied?")
broken = agent.get("/api/v1/status")["profiler"]["broken_stacks"]
check(broken > 15, f"{broken} broken stacks are counted")
agent.stop()
END
