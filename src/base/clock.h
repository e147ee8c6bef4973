/*
 * Clocks in nanoseconds: the monotonic clock for timeouts, the wall clock for timestamps that are shown.
 */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

static inline int64_t clock_ns(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

static inline int64_t clock_wall_ns(void)
{
	return clock_ns(CLOCK_REALTIME);
}

static inline uint64_t clock_mono_ns(void)
{
	return (uint64_t)clock_ns(CLOCK_MONOTONIC);
}

#endif
