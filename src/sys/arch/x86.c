/*
 * x86: rdpmc takes the number of the counter in a register, so one function can read all of them.
 * The numbers of fixed counters have bit 30 set.
 */
#include "sys/arch.h"

#include <cpuid.h>

bool arch_can_read_counters(void)
{
	return true;
}

uint64_t arch_counter(uint32_t index)
{
	uint32_t low, high;

	__asm__ volatile("rdpmc" : "=a"(low), "=d"(high) : "c"(index));
	return low | (uint64_t)high << 32;
}

uint32_t arch_counter_max(void)
{
	return UINT32_MAX;
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
	uint32_t low, high;

	__asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
	return low | (uint64_t)high << 32;
}

/* CPUID leaf 15h: the TSC frequency is the crystal's times ebx / eax. Empty on AMD CPUs and in guests. */
uint64_t arch_tsc_hz(void)
{
	uint32_t eax, ebx, ecx, edx;

	if (!__get_cpuid(0x15, &eax, &ebx, &ecx, &edx) || !eax || !ebx || !ecx)
		return 0;
	return (uint64_t)ecx * ebx / eax;
}
