/*
 * blocker FILE [ROUNDS]: blocks in functions of its own: by_sleep(), by_pipe(), by_futex(), and by_disk(), which writes FILE to
 * the disk. Prints how long each was blocked, in seconds, and how often the kernel took the CPU away instead ("preempted N"):
 * while that happens the thread is ready to run, which cannot be told from the outside by clocks.
 */
#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static int ends[2], word;
static double slept, piped, waited, wrote;

static double now_s(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

/* Time that the thread does not run. */
static double blocked_s(void)
{
	return now_s(CLOCK_MONOTONIC) - now_s(CLOCK_THREAD_CPUTIME_ID);
}

__attribute__((noinline)) static void by_sleep(void)
{
	const struct timespec ts = { .tv_nsec = 300000000 };
	double from = blocked_s();

	nanosleep(&ts, NULL);
	slept += blocked_s() - from;
}

__attribute__((noinline)) static void by_pipe(void)
{
	double from = blocked_s();
	char c;

	if (read(ends[0], &c, 1) != 1)
		exit(1);
	piped += blocked_s() - from;
}

__attribute__((noinline)) static void by_futex(void)
{
	double from = blocked_s();

	syscall(SYS_futex, &word, FUTEX_WAIT, 0, NULL, NULL, 0);
	waited += blocked_s() - from;
}

__attribute__((noinline)) static void by_disk(int fd)
{
	static char page[1 << 16];
	double from = blocked_s();

	for (int i = 0; i < 8; i++)
		if (write(fd, page, sizeof(page)) < 0 || fsync(fd) < 0)
			exit(1);
	wrote += blocked_s() - from;
}

static void *help(void *arg)
{
	usleep(200000);
	if (write(ends[1], "x", 1) != 1)
		exit(1);
	usleep(250000);
	__atomic_store_n(&word, 1, __ATOMIC_SEQ_CST);
	syscall(SYS_futex, &word, FUTEX_WAKE, 1, NULL, NULL, 0);
	return arg;
}

static void block_in_all_ways(int fd)
{
	pthread_t helper;

	word = 0;
	by_sleep();
	if (pthread_create(&helper, NULL, help, NULL))
		exit(1);
	by_pipe();
	by_futex();
	pthread_join(helper, NULL);
	by_disk(fd);
}

int main(int argc, char **argv)
{
	int fd = argc > 1 ? open(argv[1], O_CREAT | O_WRONLY | O_TRUNC, 0600) : -1, rounds = argc > 2 ? atoi(argv[2]) : 1;
	struct rusage usage;

	if (fd < 0 || pipe(ends) < 0)
		return 1;
	for (int i = 0; i < rounds; i++)
		block_in_all_ways(fd);
	getrusage(RUSAGE_SELF, &usage);
	printf("by_sleep %.6f\nby_pipe %.6f\nby_futex %.6f\nby_disk %.6f\npreempted %ld\n", slept, piped, waited, wrote, usage.ru_nivcsw);
	return 0;
}
