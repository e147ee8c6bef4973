/*
 * riscv: user-mode counters are CSRs, and the number of a CSR is part of the instruction. Counter n
 * is CSR 0xc00 + n: cycle, time, instret, then hpmcounter3 to 31.
 */
#include "sys/arch.h"

#define COUNTERS_MAX 32

#define COUNTERS(X)                                                                                \
	X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11) X(12) X(13) X(14) X(15)      \
	X(16) X(17) X(18) X(19) X(20) X(21) X(22) X(23) X(24) X(25) X(26) X(27) X(28) X(29)        \
	X(30) X(31)

#define ONE_READER(n)                                                                              \
	static uint64_t counter_##n(void)                                                          \
	{                                                                                          \
		uint64_t v;                                                                        \
		__asm__ volatile("csrr %0, 0xc00 + " #n : "=r"(v));                                \
		return v;                                                                          \
	}
#define ONE_ROW(n) [n] = counter_##n,

COUNTERS(ONE_READER)

static uint64_t (*const readers[COUNTERS_MAX])(void) = { COUNTERS(ONE_ROW) };

bool arch_can_read_counters(void)
{
	return true;
}

uint64_t arch_counter(uint32_t index)
{
	return index < COUNTERS_MAX ? readers[index]() : 0;
}

uint32_t arch_counter_max(void)
{
	return COUNTERS_MAX;
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
	return counter_1();
}

uint64_t arch_tsc_hz(void)
{
	return 0;		/* only the device tree has it */
}
