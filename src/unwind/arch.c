/*
 * x86-64 and arm64. The tables follow the psABI documents of both machines and the kernel's register numbers of
 * PERF_SAMPLE_REGS_USER.
 */
#include "unwind/arch.h"

#include "symbol/elf.h"

/* rax rdx rcx rbx rsi rdi rbp rsp r8-r15 rip */
static const uint8_t x86_64_perf[] = { 0, 3, 2, 1, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23, 8 };
/* x0-x30 sp; the last one is the pc */
static const uint8_t arm64_perf[] = { 0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15, 16,
				      17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32 };

static const struct unwind_arch machines[] = {
	{ .machine = ELF_EM_X86_64, .sp = 7, .fp = 6, .ra = 16, .n_regs = countof(x86_64_perf), .perf_ip = 8,
	  .perf_sp = 7, .perf_number = x86_64_perf, .code_mask = UINT64_MAX },
	{ .machine = ELF_EM_AARCH64, .sp = 31, .fp = 29, .ra = 30, .n_regs = countof(arm64_perf), .perf_ip = 32,
	  .perf_sp = 31, .perf_number = arm64_perf, .ra_in_register = true, .code_mask = 0x0000ffffffffffffull },
};

const struct unwind_arch *unwind_arch_of(uint16_t machine)
{
	for (size_t i = 0; i < countof(machines); i++)
		if (machines[i].machine == machine)
			return &machines[i];
	return NULL;
}
