# The whole agent as it starts without a file, beside a compiler that runs again and again: its symbols,
# windows and series keep to 60 MB. Pages of mapped files do not count: they are the page cache's, and depend on what
# debug data the programs have that others run here.
# run: plain alone slow
. "$SUPPORT/lib.sh"
. "$SUPPORT/agent.sh"
need curl python3 cc
tacho stat -a -x, -e context-switches sleep 0.01 2>err || skip "may not count CPUs: $(cat err)"
! grep -q __asan_init "$BUILD/tacho-agent" || skip "a sanitizer has memory of its own"
unset MALLOC_PERTURB_		# it writes to what is never used
mkdir state
agent_port=$(free_port)
tacho agent --listen "127.0.0.1:$agent_port" --store "$PWD/db" --set "agent.socket=\"$PWD/ctl\"" >agent.out 2>agent.err &
agent_pid=$!
agent_url=http://127.0.0.1:$agent_port
wait_url 20 "$agent_url/metrics"
printf '#include <stdio.h>\n#include <stdlib.h>\n#include <math.h>\nint main(void) { return puts("") < 0; }\n' >one.c
look() { sed -n 's/RssAnon:[[:space:]]*\([0-9]*\).*/\1/p' "/proc/$agent_pid/status" >>looks; }
end_at=$(($(date +%s) + 35))		# three windows
n=0
while [ "$(date +%s)" -lt "$end_at" ]; do
	cc -O2 -o one one.c
	./one >/dev/null
	look
	n=$((n + 1))
done
curl -fsS -m 5 "$agent_url/metrics" >metrics
grep -q '^tacho_profile_samples_total{.*} [1-9]' metrics || skip "this machine cannot be sampled"
stop_agent
[ "$n" -gt 10 ] || skip "the compiler ran only $n times"
# While the symbols of something very large are read, which others may run here, it is more for a moment.
high=$(sort -n looks | sed -n "$((n * 9 / 10))p")
[ "$high" -lt 61440 ] || fail "$high kB of its own while $n programs were compiled"
