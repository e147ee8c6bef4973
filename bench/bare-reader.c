/*
 * bare-reader SECONDS stay|move EVENTS...: the least that reading counters ten times a second can
 * cost. Opens each of EVENTS (one event or one {group}) on every CPU with the bare system call, and
 * at each tick does nothing but read() them, from where it is or from the CPU they count on. Prints
 * the microseconds of CPU time that one tick took, and how many counters it read.
 */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "record/perf_abi.h"

#include <tacho/tacho.h>

enum { MAX_WORDS = 256, TICK_NS = 100000000 };

struct reader {
	int *fds;		/* leaders, CPU by CPU */
	size_t per_cpu, n_counters;
	int n_cpus;
	bool moves;
};

static int open_group(const struct tacho_evset *set, size_t n, int cpu)
{
	int leader = -1;

	for (size_t i = 0; i < n; i++) {
		struct perf_event_attr attr = { 0 };
		long fd;

		if (tacho_evset_attr(set, i, &attr, sizeof(attr)) < 0)
			return -1;
		attr.flags &= ~(PERF_ATTR_DISABLED | PERF_ATTR_ENABLE_ON_EXEC | PERF_ATTR_INHERIT);
		attr.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING |
				   (n > 1 ? PERF_FORMAT_GROUP : 0);
		fd = syscall(SYS_perf_event_open, &attr, -1, cpu, leader, 0ul);
		if (fd < 0)
			return -1;
		leader = i ? leader : (int)fd;
	}
	return leader;
}

static int open_all(struct reader *r, struct tacho *t, char **events, struct tacho_error *e)
{
	for (size_t i = 0; i < r->per_cpu; i++) {
		struct tacho_evset *set = NULL;
		int n;

		if (tacho_evset_new(&set, t) < 0)
			return -1;
		n = tacho_evset_add(set, events[i], e);
		for (int cpu = 0; n > 0 && cpu < r->n_cpus; cpu++) {
			int fd = open_group(set, (size_t)n, cpu);

			if (fd < 0)
				return -1;
			r->fds[(size_t)cpu * r->per_cpu + i] = fd;
			r->n_counters += (size_t)n;
		}
		tacho_evset_free(set);
		if (n <= 0)
			return -1;
	}
	return 0;
}

static void tick(const struct reader *r)
{
	uint64_t words[MAX_WORDS];
	cpu_set_t there;

	for (int cpu = 0; cpu < r->n_cpus; cpu++) {
		CPU_ZERO(&there);
		CPU_SET(cpu, &there);
		if (r->moves)
			sched_setaffinity(0, sizeof(there), &there);
		for (size_t i = 0; i < r->per_cpu; i++)
			if (read(r->fds[(size_t)cpu * r->per_cpu + i], words, sizeof(words)) <= 0)
				exit(1);
	}
}

static double cpu_us(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return (double)ts.tv_sec * 1e6 + (double)ts.tv_nsec * 1e-3;
}

int main(int argc, char **argv)
{
	struct reader r = { .n_cpus = (int)sysconf(_SC_NPROCESSORS_ONLN) };
	struct rlimit files;
	struct tacho_error e = { 0 };
	struct tacho *t = NULL;
	int n_ticks = argc > 3 ? atoi(argv[1]) * 10 : 0;
	struct timespec at;
	double start;

	if (n_ticks <= 0)
		return 2;
	getrlimit(RLIMIT_NOFILE, &files);
	files.rlim_cur = files.rlim_max;
	setrlimit(RLIMIT_NOFILE, &files);
	r.moves = argv[2][0] == 'm';
	r.per_cpu = (size_t)argc - 3;
	r.fds = calloc(r.per_cpu * (size_t)r.n_cpus, sizeof(*r.fds));
	if (!r.fds || tacho_open(&t, NULL, &e) < 0 || open_all(&r, t, argv + 3, &e) < 0) {
		fprintf(stderr, "cannot open the counters: %s\n", e.message);
		return 1;
	}
	clock_gettime(CLOCK_MONOTONIC, &at);
	start = cpu_us();
	for (int i = 0; i < n_ticks; i++) {
		at.tv_nsec += TICK_NS;
		at.tv_sec += at.tv_nsec / 1000000000;
		at.tv_nsec %= 1000000000;
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL);
		tick(&r);
	}
	printf("%.1f %zu\n", (cpu_us() - start) / n_ticks, r.n_counters);
	tacho_close(t);
	free(r.fds);
	return 0;
}
