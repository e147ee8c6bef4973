/*
 * The bare side of the bench programs: perf_event_open and read() with nothing around them.
 */
#include "bare.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "record/perf_abi.h"

enum { ROUNDS = 50 };

static double now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec * 1e9 + (double)ts.tv_nsec;
}

int bare_group_open(const struct tacho_evset *set, size_t n)
{
	int leader = -1;

	for (size_t i = 0; i < n; i++) {
		struct perf_event_attr attr = { 0 };
		long fd;

		if (tacho_evset_attr(set, i, &attr, sizeof(attr)) < 0) {
			errno = EINVAL;
			return -1;
		}
		attr.flags &= ~(PERF_ATTR_DISABLED | PERF_ATTR_ENABLE_ON_EXEC | PERF_ATTR_INHERIT);
		attr.read_format = PERF_FORMAT_GROUP | PERF_FORMAT_TOTAL_TIME_ENABLED |
				   PERF_FORMAT_TOTAL_TIME_RUNNING;
		fd = syscall(SYS_perf_event_open, &attr, 0, -1, leader, 0ul);
		if (fd < 0)
			return -1;
		if (i == 0)
			leader = (int)fd;
	}
	return leader;
}

int bare_group_find(size_t n)
{
	uint64_t words[64];

	for (int fd = 3; fd < 256; fd++) {
		char path[32], target[64] = "";

		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
		if (readlink(path, target, sizeof(target) - 1) > 0 && strstr(target, "[perf_event]") &&
		    read(fd, words, sizeof(words)) == (ssize_t)((3 + n) * sizeof(*words)) &&
		    words[0] == n)
			return fd;
	}
	return -1;
}

static double round_ns(const struct contender *c, unsigned n_calls)
{
	double start = now_ns();

	for (unsigned i = 0; i < n_calls; i++)
		c->call(c->arg);
	return (now_ns() - start) / n_calls;
}

void contest(struct contender *all, size_t n, unsigned n_calls)
{
	for (int round = 0; round < ROUNDS; round++) {
		for (size_t i = 0; i < n; i++) {
			double ns = round_ns(&all[i], n_calls);

			if (round == 0 || ns < all[i].ns)
				all[i].ns = ns;
		}
	}
}
