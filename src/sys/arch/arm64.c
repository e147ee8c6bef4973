/*
 * arm64: every counter is a separate register whose name is part of the instruction, so each needs
 * its own read function. Macros generate the functions and their table, which is indexed by register
 * number: counter n is PMEVCNTRn_EL0, number 31 is the cycle counter PMCCNTR_EL0.
 */
#include "sys/arch.h"

#include <stddef.h>

#define CYCLES 31
#define WIDE 1ULL			/* the format's `long` */

#define READER(fn, reg)                                                                            \
	static uint64_t fn(void)                                                                   \
	{                                                                                          \
		uint64_t v;                                                                        \
		__asm__ volatile("mrs %0, " reg : "=r"(v));                                        \
		return v;                                                                          \
	}

/* X(n): once for every event counter. */
#define COUNTERS(X)                                                                                \
	X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11) X(12) X(13) X(14) X(15)      \
	X(16) X(17) X(18) X(19) X(20) X(21) X(22) X(23) X(24) X(25) X(26) X(27) X(28) X(29) X(30)

#define ONE_READER(n) READER(counter_##n, "pmevcntr" #n "_el0")
#define ONE_ROW(n) [n] = counter_##n,

COUNTERS(ONE_READER)
READER(cycle_counter, "pmccntr_el0")
READER(virtual_timer, "cntvct_el0")
READER(timer_rate, "cntfrq_el0")

static uint64_t (*const readers[CYCLES + 1])(void) = { COUNTERS(ONE_ROW)[CYCLES] = cycle_counter };

bool arch_can_read_counters(void)
{
	return true;
}

uint64_t arch_counter(uint32_t index)
{
	return index <= CYCLES ? readers[index]() : 0;
}

uint32_t arch_counter_max(void)
{
	return CYCLES + 1;
}

uint64_t arch_user_access(void)
{
	/* 64-bit counter, user access: since Linux 5.17, and only if kernel.perf_user_access is 1 */
	return WIDE | 2;
}

uint64_t arch_user_wide(void)
{
	/* Before PMUv3p5, only the cycle counter has 64 bits; the kernel refuses others with EOPNOTSUPP. */
	return WIDE;
}

uint64_t arch_timestamp(void)
{
	return virtual_timer();
}

uint64_t arch_tsc_hz(void)
{
	return timer_rate();
}
