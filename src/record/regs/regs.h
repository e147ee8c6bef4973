/*
 * Register names, indexed by the register's bit in sample_regs_user and sample_regs_intr. The tables of
 * all architectures are built in, because a file may come from another machine.
 */
#ifndef RECORD_REGS_REGS_H
#define RECORD_REGS_REGS_H

#include "base/defs.h"

struct reg_names {
	const char *const *names;	/* by bit; NULL for unused bits */
	size_t n;
};

extern const struct reg_names regs_arm, regs_arm64, regs_csky, regs_loongarch, regs_mips,
	regs_powerpc, regs_riscv, regs_s390, regs_x86;

#endif
