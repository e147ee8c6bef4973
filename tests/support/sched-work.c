/*
 * sched-work: loads for tests of the scheduler's views. Each prints what the kernel counted for it:
 *
 *	sched-work pingpong N		two threads pass a byte N times over pipes, both on CPU 0
 *	sched-work sleep N		N sleeps of 5 ms
 *	sched-work compete MS		two threads on CPU 0 that run for MS milliseconds of CPU time together
 *	sched-work migrate N		moves itself N times between CPU 0 and CPU 1
 *
 * "NAME TID RUN_NS DELAY_NS SLICES VOLUNTARY INVOLUNTARY" per thread, from its /proc/self/task/TID files.
 */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static int pipes[2][2], count;
static unsigned long long budget_ns;

static void pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set) < 0)
		exit(77);
}

static void report(const char *name)
{
	char path[64], line[128];
	unsigned long long run = 0, delay = 0, slices = 0;
	long voluntary = -1, involuntary = -1;
	int tid = (int)syscall(SYS_gettid);
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/task/%d/schedstat", tid);
	f = fopen(path, "r");
	if (!f || fscanf(f, "%llu %llu %llu", &run, &delay, &slices) != 3)
		exit(77);
	fclose(f);
	snprintf(path, sizeof(path), "/proc/self/task/%d/status", tid);
	f = fopen(path, "r");
	while (f && fgets(line, sizeof(line), f)) {
		sscanf(line, "voluntary_ctxt_switches: %ld", &voluntary);
		sscanf(line, "nonvoluntary_ctxt_switches: %ld", &involuntary);
	}
	if (f)
		fclose(f);
	printf("%s %d %llu %llu %llu %ld %ld\n", name, tid, run, delay, slices, voluntary, involuntary);
	fflush(stdout);
}

static void *ponger(void *arg)
{
	char byte;

	(void)arg;
	prctl(PR_SET_NAME, "ponger");
	pin(0);
	for (int i = 0; i < count; i++)
		if (read(pipes[0][0], &byte, 1) != 1 || write(pipes[1][1], &byte, 1) != 1)
			exit(1);
	report("ponger");
	return NULL;
}

static void pingpong(void)
{
	pthread_t other;
	char byte = 'x';

	prctl(PR_SET_NAME, "pinger");
	pin(0);
	if (pipe(pipes[0]) < 0 || pipe(pipes[1]) < 0 || pthread_create(&other, NULL, ponger, NULL))
		exit(1);
	for (int i = 0; i < count; i++)
		if (write(pipes[0][1], &byte, 1) != 1 || read(pipes[1][0], &byte, 1) != 1)
			exit(1);
	pthread_join(other, NULL);
	report("pinger");
}

static void sleeper(void)
{
	struct timespec time = { 0, 5000000 };

	prctl(PR_SET_NAME, "sleeper");
	for (int i = 0; i < count; i++)
		nanosleep(&time, NULL);
	report("sleeper");
}

static void burn(void)
{
	struct timespec now;

	do {
		for (unsigned i = 0; i < 10000; i++)
			__asm__ volatile("");
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	} while ((unsigned long long)now.tv_sec * 1000000000 + (unsigned long long)now.tv_nsec < budget_ns);
}

static void *competitor(void *arg)
{
	(void)arg;
	prctl(PR_SET_NAME, "rival");
	pin(0);
	burn();
	report("rival");
	return NULL;
}

static void compete(void)
{
	pthread_t other;

	prctl(PR_SET_NAME, "hog");
	budget_ns = (unsigned long long)count * 1000000;
	pin(0);
	if (pthread_create(&other, NULL, competitor, NULL))
		exit(1);
	burn();
	report("hog");
	pthread_join(other, NULL);
}

static void migrate(void)
{
	prctl(PR_SET_NAME, "mover");
	pin(0);
	for (int i = 0; i < count; i++)
		pin((i + 1) % 2);
	report("mover");
}

int main(int argc, char **argv)
{
	static const struct { const char *name; void (*run)(void); } works[] = {
		{ "pingpong", pingpong }, { "sleep", sleeper }, { "compete", compete }, { "migrate", migrate },
	};

	count = argc == 3 ? atoi(argv[2]) : 0;
	for (size_t i = 0; i < sizeof(works) / sizeof(*works) && argc == 3; i++)
		if (!strcmp(argv[1], works[i].name))
			return works[i].run(), 0;
	return fprintf(stderr, "usage: sched-work WORK N\n"), 2;
}
