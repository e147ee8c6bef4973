/*
 * busy-threads THREADS SECONDS: threads that are busy until then, in functions whose shares are known: most_work() has
 * three quarters, least_work() a quarter, both called by busy(). It is built with frame pointers.
 */
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

enum { MOST = 256 };

static volatile unsigned long sink;
static time_t end;

__attribute__((noinline)) static void most_work(void)
{
	for (unsigned i = 0; i < 30000; i++)
		sink += i;
	__asm__ volatile("");
}

__attribute__((noinline)) static void least_work(void)
{
	for (unsigned i = 0; i < 10000; i++)
		sink += i;
	__asm__ volatile("");
}

__attribute__((noinline)) static void *busy(void *arg)
{
	while (time(NULL) < end) {
		most_work();
		least_work();
	}
	return arg;
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 1;
	pthread_t threads[MOST];

	end = time(NULL) + (argc > 2 ? atoi(argv[2]) : 10);
	if (n < 1 || n > MOST)
		return 1;
	for (int i = 0; i < n; i++)
		if (pthread_create(&threads[i], NULL, busy, NULL))
			return 1;
	for (int i = 0; i < n; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
