/*
 * burn [-t THREADS] [-p PROCESSES] [-m MSEC] [-o FILE]: THREADS threads of this process and
 * PROCESSES children each burn MSEC milliseconds of CPU time (by their own thread's CPU clock).
 * At the end it prints what getrusage says all of them used, user and system, in milliseconds
 * with three decimals: one number, to stdout or to FILE. A counter on the whole must agree.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MOST = 256 };

__attribute__((noinline)) static void burn(double msec)	/* profiles show it */
{
	struct timespec ts;

	do {
		for (volatile int i = 0; i < 20000; i++)
			;
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	} while ((double)ts.tv_sec * 1e3 + (double)ts.tv_nsec / 1e6 < msec);
}

static void *burn_thread(void *arg)
{
	burn(*(double *)arg);
	return NULL;
}

static double usage_ms(int who)
{
	struct rusage u;

	getrusage(who, &u);
	return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1e3 +
	       (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e3;
}

static int start_children(unsigned n, double msec)
{
	for (unsigned i = 0; i < n; i++) {
		pid_t pid = fork();

		if (pid < 0)
			return -1;
		if (pid == 0) {
			burn(msec);
			_exit(0);
		}
	}
	return 0;
}

static int run_threads(unsigned n, double *msec)
{
	pthread_t thread[MOST];

	for (unsigned i = 0; i < n; i++) {
		if (pthread_create(&thread[i], NULL, burn_thread, msec) != 0)
			return -1;
	}
	for (unsigned i = 0; i < n; i++)
		pthread_join(thread[i], NULL);
	return 0;
}

int main(int argc, char **argv)
{
	unsigned n_threads = 0, n_processes = 0;
	double msec = 100;
	FILE *out = stdout;
	int letter;

	while ((letter = getopt(argc, argv, "t:p:m:o:")) != -1) {
		if (letter == 't')
			n_threads = (unsigned)strtoul(optarg, NULL, 10);
		else if (letter == 'p')
			n_processes = (unsigned)strtoul(optarg, NULL, 10);
		else if (letter == 'm')
			msec = strtod(optarg, NULL);
		else if (letter != 'o' || !(out = fopen(optarg, "w")))
			return 2;
	}
	if (n_threads > MOST || n_processes > MOST)
		return 2;
	if (start_children(n_processes, msec) < 0 || run_threads(n_threads, &msec) < 0) {
		perror("burn");
		return 1;
	}
	while (wait(NULL) > 0)
		;
	fprintf(out, "%.3f\n", usage_ms(RUSAGE_SELF) + usage_ms(RUSAGE_CHILDREN));
	return fclose(out) == 0 ? 0 : 1;
}
