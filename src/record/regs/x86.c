/*
 * Registers of x86, 32 and 64 bit. An XMM register has two bits and two values, low half
 * first.
 */
#include "record/regs/regs.h"

static const char *const names[] = {
	"AX", "BX", "CX", "DX", "SI", "DI", "BP", "SP", "IP", "FLAGS", "CS", "SS", "DS", "ES",
	"FS", "GS", "R8", "R9", "R10", "R11", "R12", "R13", "R14", "R15", [32] = "XMM0",
	"XMM0", "XMM1", "XMM1", "XMM2", "XMM2", "XMM3", "XMM3", "XMM4", "XMM4", "XMM5", "XMM5",
	"XMM6", "XMM6", "XMM7", "XMM7", "XMM8", "XMM8", "XMM9", "XMM9", "XMM10", "XMM10",
	"XMM11", "XMM11", "XMM12", "XMM12", "XMM13", "XMM13", "XMM14", "XMM14", "XMM15",
	"XMM15",
};

const struct reg_names regs_x86 = { names, countof(names) };
