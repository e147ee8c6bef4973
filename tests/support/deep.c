/*
 * deep MODE: spends 0.1 s of CPU time in leaf(), below calls that are hard to unwind without frame pointers.
 *
 *	plain		main > outer > middle > leaf
 *	alloca		middle() has a frame of variable size
 *	callback	qsort() of the C library calls compare() > leaf
 *	signal		a signal handler > leaf, above middle()
 *	altstack	the same on a stack of its own
 *	thread		a thread: start > outer > middle > leaf
 *	realign		middle() aligns its stack
 */
#include <alloca.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#ifdef __clang__
#define NOINLINE __attribute__((noinline))
#else
#define NOINLINE __attribute__((noinline, noclone))
#endif

static volatile unsigned long sink;
static volatile size_t bytes = 100;
static volatile int quiet;

static double cpu_seconds(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

NOINLINE static void leaf(void)
{
	for (unsigned i = 0; i < 20000; i++)
		sink += i;
}

NOINLINE static void leaf_for_a_while(void)
{
	double end = cpu_seconds() + 0.1;

	while (cpu_seconds() < end)
		leaf();
	sink++;
}

NOINLINE static int middle_plain(void)
{
	leaf_for_a_while();
	return (int)sink;
}

NOINLINE static int middle_alloca(void)
{
	volatile char *space = alloca(bytes);

	space[bytes / 2] = 1;
	leaf_for_a_while();
	return space[bytes / 2];
}

NOINLINE __attribute__((force_align_arg_pointer)) static int middle_realign(void)
{
	volatile char space[64] __attribute__((aligned(64)));

	space[3] = 1;
	leaf_for_a_while();
	return space[3];
}

static int compare(const void *a, const void *b)
{
	if (!quiet)
		leaf_for_a_while();
	quiet = 1;
	return *(const int *)a - *(const int *)b;
}

NOINLINE static int middle_callback(void)
{
	int v[] = { 3, 1, 2 };

	qsort(v, 3, sizeof(*v), compare);
	return v[0];
}

static void handler(int number)
{
	leaf_for_a_while();
	sink += (unsigned long)number;
}

NOINLINE static int middle_signal(void)
{
	struct sigaction sa = { .sa_handler = handler };

	sigaction(SIGUSR1, &sa, NULL);
	raise(SIGUSR1);
	return (int)sink;
}

NOINLINE static int middle_altstack(void)
{
	static char space[65536];
	stack_t stack = { .ss_sp = space, .ss_size = sizeof(space) };
	struct sigaction sa = { .sa_handler = handler, .sa_flags = SA_ONSTACK };

	sigaltstack(&stack, NULL);
	sigaction(SIGUSR1, &sa, NULL);
	raise(SIGUSR1);
	return (int)sink;
}

NOINLINE static int outer(int (*middle)(void))
{
	int got = middle();

	sink++;
	return got;
}

static void *start(void *arg)
{
	(void)arg;
	outer(middle_plain);
	sink++;
	return NULL;
}

NOINLINE static int middle_thread(void)
{
	pthread_t t;

	if (pthread_create(&t, NULL, start, NULL) != 0)
		return 1;
	return pthread_join(t, NULL);
}

static const struct { const char *name; int (*middle)(void); } modes[] = {
	{ "plain", middle_plain }, { "alloca", middle_alloca }, { "callback", middle_callback },
	{ "signal", middle_signal }, { "altstack", middle_altstack }, { "thread", middle_thread },
	{ "realign", middle_realign },
};

int main(int argc, char **argv)
{
	for (size_t i = 0; argc == 2 && i < sizeof(modes) / sizeof(*modes); i++)
		if (strcmp(argv[1], modes[i].name) == 0) {
			printf("%d\n", outer(modes[i].middle));
			return 0;
		}
	return 2;
}
