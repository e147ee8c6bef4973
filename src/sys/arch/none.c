/*
 * Architectures whose counters cannot be read from user space: every value is read with read().
 */
#include "sys/arch.h"

#include <time.h>

bool arch_can_read_counters(void)
{
	return false;
}

uint64_t arch_counter(uint32_t index)
{
	(void)index;
	return 0;
}

uint32_t arch_counter_max(void)
{
	return 0;
}

uint64_t arch_user_access(void)
{
	return 0;
}

uint64_t arch_user_wide(void)
{
	return 0;
}

uint64_t arch_timestamp(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000ULL + (uint64_t)ts.tv_nsec;
}

uint64_t arch_tsc_hz(void)
{
	return 0;
}
