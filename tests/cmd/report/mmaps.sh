# --mmaps: children have the mappings of the process that forked them, threads those of their process; a newer mapping
# replaces what it covers. perf shows the same, and after an exec the earlier mappings as well. Children are sorted by
# their IDs; perf sorts them by the lowest 8 bits.
. "$SUPPORT/lib.sh"
. "$SUPPORT/stored.sh"
need cc
cat >w.c <<'C'
#include <pthread.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
static void *idle(void *arg) { return arg; }
static void *busy(void *arg) { pthread_t t; pthread_create(&t, 0, idle, 0); pthread_join(t, 0);
	if (fork() == 0) _exit(0);
	wait(0); return arg; }
static void cover(size_t at, size_t n, int fd) { static char *base;
	if (!base) base = mmap(0, 1 << 20, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	mmap(base + at, n, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED, fd, 0); }
int main(int argc, char **argv)
{
	pthread_t t;
	int fd = 0;
	cover(4096, 8192, fd);
	for (int i = 0; i < 3; i++)
		if (fork() == 0) {
			cover(8192 * (i + 2), 4096, fd);
			pthread_create(&t, 0, busy, 0);
			pthread_join(t, 0);
			if (i == 2 && argc > 1)
				execv(argv[1], argv + 1);
			if (i == 1 && fork() == 0)
				cover(0, 1 << 20, fd);
			wait(0);
			_exit(0);
		}
	while (wait(0) > 0)
		;
}
C
cc -O1 -pthread -o w w.c
record() {
	live_perf record -q -e cpu-clock $2 -o "$1" ./w </bin/sh 2>/dev/null
}

# Stdin: each task with its maps in one line, sorted.
by_task() { awk '/\|/ && task { print task; task = "" } { task = task $0 "@" } END { print task }' | sort; }

for args in "" -d; do
	stored file$args record file$args "$args"
	for what in --tasks --mmaps; do
		perf report -i file$args $what 2>/dev/null >perf.txt
		tacho report -i file$args $what >own.txt
		by_task <perf.txt >perf.tasks
		by_task <own.txt >own.tasks
		diff perf.tasks own.tasks || fail "record $args: $what differs"
	done
	[ "$(grep -c '/w$' perf.txt)" -ge 5 ] || fail "record $args: nothing inherited"
	grep ' |  *w$' own.txt | awk '$3 == above && $2 < last { exit 1 } { above = $3; last = $2 }' ||
		fail "record $args: children are not in the order of their numbers"
done
tacho record -q -e cpu-clock -o file ./w /bin/true </bin/sh
tacho report -i file --mmaps >maps
sed -n '/| true$/,/|/p' maps | grep -q '/true$' || { cat maps; fail "no map of the new program"; }
! sed -n '/| true$/,/|/p' maps | grep -q '/w$' || { cat maps; fail "maps of the program before"; }
