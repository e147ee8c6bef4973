/*
 * Finds the register names of an ELF machine number.
 */
#include "record/regs/regs.h"

#include <elf.h>

#include "record/record.h"

#ifndef EM_LOONGARCH
#define EM_LOONGARCH 258
#endif
#ifndef EM_CSKY
#define EM_CSKY 252
#endif

static const struct {
	unsigned machine;
	const struct reg_names *regs;
} machines[] = {
	{ EM_386, &regs_x86 },		{ EM_X86_64, &regs_x86 },     { EM_ARM, &regs_arm },
	{ EM_AARCH64, &regs_arm64 },	{ EM_RISCV, &regs_riscv },    { EM_PPC, &regs_powerpc },
	{ EM_PPC64, &regs_powerpc },	{ EM_S390, &regs_s390 },      { EM_MIPS, &regs_mips },
	{ EM_LOONGARCH, &regs_loongarch }, { EM_CSKY, &regs_csky },
};

const char *tacho_reg_name(unsigned machine, unsigned bit)
{
	for (size_t i = 0; i < countof(machines); i++)
		if (machines[i].machine == machine)
			return bit < machines[i].regs->n ? machines[i].regs->names[bit] : NULL;
	return NULL;
}
