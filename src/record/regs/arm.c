/*
 * Registers of 32-bit Arm.
 */
#include "record/regs/regs.h"

static const char *const names[] = {
	"r0", "r1", "r2", "r3", "r4", "r5", "r6", "r7", "r8", "r9", "r10", "fp", "ip", "sp",
	"lr", "pc",
};

const struct reg_names regs_arm = { names, countof(names) };
