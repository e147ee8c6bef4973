/*
 * Stops in stop_here() in every way in which C code gets a frame: recursion, alloca, large frames, callbacks from libc, a
 * signal handler, a thread.
 */
#define _GNU_SOURCE
#include <alloca.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NOINLINE __attribute__((noinline))

static volatile int sink;

NOINLINE void stop_here(int n)
{
	__asm__ volatile("" : : "r"(n) : "memory");
	sink += n;
}

NOINLINE static int recursive(int n)
{
	int below = n ? recursive(n - 1) : 0;

	if (!n)
		stop_here(n);
	return below + sink;
}

NOINLINE static int with_alloca(size_t n)
{
	char *bytes = alloca(n * 64 + 1);

	memset(bytes, (int)n, n * 64 + 1);
	stop_here(bytes[n]);
	return bytes[0];
}

NOINLINE static int with_large_frame(int n)
{
	char bytes[20000];

	memset(bytes, n, sizeof(bytes));
	stop_here(bytes[n]);
	return bytes[n + 1];
}

NOINLINE static int many_arguments(int a, int b, int c, int d, int e, int f, int g, int h, int i)
{
	stop_here(a + i);
	return a + b + c + d + e + f + g + h + i + sink;
}

static int compare(const void *a, const void *b)
{
	stop_here(1);
	return *(const int *)a - *(const int *)b;
}

__attribute__((unused)) static void on_signal(int sig)
{
	stop_here(sig);
}

NOINLINE static void *thread(void *arg)
{
	stop_here(2);
	return arg;
}

NOINLINE static void tail(int n)
{
	if (n & 1)
		stop_here(n);
	else
		sink += recursive(2);
}

NOINLINE static void signals(void)
{
#ifndef NO_SIGNALS
	struct sigaction sa = { .sa_handler = on_signal };

	sigaction(SIGUSR1, &sa, NULL);
	raise(SIGUSR1);
#endif
}

int main(void)
{
	int numbers[] = { 3, 1, 2 };
	pthread_t t;

	for (int i = 0; i < 3; i++)
		sink += recursive(i * 3);
	sink += with_alloca((size_t)sink % 7 + 1);
	sink += with_large_frame(sink % 5);
	sink += many_arguments(1, 2, 3, 4, 5, 6, 7, 8, sink);
	qsort(numbers, 3, sizeof(*numbers), compare);
	signals();
	if (pthread_create(&t, NULL, thread, NULL) == 0)
		pthread_join(t, NULL);
	tail(3);
	tail(4);
	return 0;
}
