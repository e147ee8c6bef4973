# How many threads ran beside a sample: threads that ended do not count any more, although no switch event reports
# their end. Here one waits for the other, so that never two run for long.
# run: both
. "$SUPPORT/lib.sh"
need cc
cat >w.c <<'C'
#include <pthread.h>
volatile long x;
static void *spin(void *arg) { for (long i = 0; i < 20000000; i++) x += i; return arg; }
int main(void) {
	pthread_t t;
	for (int i = 0; i < 8; i++) {
		pthread_create(&t, 0, spin, 0);
		pthread_join(t, 0);
	}
}
C
cc -O1 -pthread -o w w.c
tacho record -q -e cpu-clock:u -F 1000 --latency -o file ./w 2>err || skip "cannot record here: $(cat err)"
tacho report --stdio -q -i file -F overhead,parallelism >table
awk 'NF == 2 && $2 == 1 && $1 + 0 > 90 { alone = 1 } END { exit !alone }' table || { cat table; fail "threads that ended run on"; }
tacho report --stdio --latency -i file | grep -q '^# *Latency *Overhead ' || fail "no latency of what --latency recorded"
# perf takes a thread as running from its exec on, so no switch is recorded before that.
tacho script -i file --show-switch-events --show-task-events | grep -m 1 -e SWITCH -e 'COMM exec' | grep -q 'COMM exec' ||
	fail "switches precede the exec of the command"
