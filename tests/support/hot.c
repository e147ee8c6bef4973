/*
 * hot: a program whose profile is known: outer() calls heavy() for three quarters of the time and
 * light() for the rest, 0.2 s of CPU time in all. With an argument deep() works itself and then calls
 * them by way of two others. It is built with frame pointers.
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

/* The clock is rarely asked: hardly a sample falls on the way there. */
static int has_time(void)
{
	static unsigned asked;
	struct timespec ts;

	if (++asked % 16)
		return 1;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return ts.tv_sec == 0 && ts.tv_nsec < 200000000;
}

__attribute__((noinline)) static void outer(void)
{
	do {
		heavy_work();
		light_work();
	} while (has_time());
}

__attribute__((noinline)) static void both(void)
{
	heavy_work();
	light_work();
	sink++;
}

__attribute__((noinline)) static void way(void)
{
	both();
	sink++;
}

__attribute__((noinline)) static void deep(void)
{
	do {
		for (unsigned i = 0; i < 20000; i++)
			sink += i;
		way();
	} while (has_time());
}

int main(int argc, char **argv)
{
	(void)argv;
	if (argc > 1)
		deep();
	else
		outer();
	return sink == 42;
}
