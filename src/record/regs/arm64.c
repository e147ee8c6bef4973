/*
 * Registers of 64-bit Arm. Bit 46 is the length of SVE vectors in units of 64 bits (6.1).
 */
#include "record/regs/regs.h"

static const char *const names[] = {
	"x0", "x1", "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11", "x12", "x13",
	"x14", "x15", "x16", "x17", "x18", "x19", "x20", "x21", "x22", "x23", "x24", "x25",
	"x26", "x27", "x28", "x29", "lr", "sp", "pc", [46] = "vg",
};

const struct reg_names regs_arm64 = { names, countof(names) };
