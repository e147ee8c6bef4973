/*
 * hot: a program whose profile is known: outer() calls heavy() for three quarters of the time and
 * light() for the rest, 0.2 s of CPU time in all. It is built with frame pointers.
 */
#include <time.h>

static volatile unsigned long sink;

__attribute__((noinline)) static void spin(unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		sink += i;
	__asm__ volatile("");
}

__attribute__((noinline)) static void heavy_work(void)
{
	for (int i = 0; i < 3; i++)
		spin(20000);
	sink++;
}

__attribute__((noinline)) static void light_work(void)
{
	for (unsigned i = 0; i < 20000; i++)
		sink += i;
}

__attribute__((noinline)) static void outer(void)
{
	struct timespec ts;

	do {
		heavy_work();
		light_work();
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	} while (ts.tv_sec == 0 && ts.tv_nsec < 200000000);
}

int main(void)
{
	outer();
	return sink == 42;
}
