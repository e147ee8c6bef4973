/*
 * The properties of a machine that unwinding needs: DWARF register numbers, their numbers in perf samples, and
 * the registers that rules refer to.
 */
#ifndef UNWIND_ARCH_H
#define UNWIND_ARCH_H

#include "base/defs.h"


struct unwind_arch {
	uint16_t machine;		/* ELF e_machine */
	uint8_t sp, fp, ra;		/* DWARF numbers; `ra`: the usual return address column */
	uint8_t n_regs;			/* DWARF registers that samples may have */
	uint8_t perf_ip, perf_sp;	/* numbers in perf's register mask */
	const uint8_t *perf_number;	/* DWARF number -> number in perf's register mask */
	bool ra_in_register;		/* a leaf function may keep its return address in a register */
	uint64_t code_mask;		/* bits of an address that are not pointer authentication */
};

/* NULL if the machine is not supported. */
const struct unwind_arch *unwind_arch_of(uint16_t machine);

#endif
