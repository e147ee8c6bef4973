/*
 * Registers of MIPS. Register 0 is always zero; its bit stands for the program counter.
 */
#include "record/regs/regs.h"

static const char *const names[] = {
	"PC", "$1", "$2", "$3", "$4", "$5", "$6", "$7", "$8", "$9", "$10", "$11", "$12", "$13",
	"$14", "$15", "$16", "$17", "$18", "$19", "$20", "$21", "$22", "$23", "$24", "$25",
	"$26", "$27", "$28", "$29", "$30", "$31",
};

const struct reg_names regs_mips = { names, countof(names) };
