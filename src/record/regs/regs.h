/*
 * Register names by the bit that stands for the register in sample_regs_user and sample_regs_intr.
 * One table per architecture, all built in: files travel.
 */
#ifndef RECORD_REGS_REGS_H
#define RECORD_REGS_REGS_H

#include "base/defs.h"

struct reg_names {
	const char *const *names;	/* by bit; NULL where a bit means nothing */
	size_t n;
};

extern const struct reg_names regs_arm, regs_arm64, regs_csky, regs_loongarch, regs_mips,
	regs_powerpc, regs_riscv, regs_s390, regs_x86;

#endif
