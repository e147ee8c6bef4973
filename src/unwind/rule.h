/*
 * Unwind rules: how the registers of a caller are recovered at one address of a function. Only the program
 * counter, the stack pointer and the frame pointer are recovered, because nearly all rules depend on these
 * alone. Rules that need another register are usable in the first frame, whose registers are all known.
 */
#ifndef UNWIND_RULE_H
#define UNWIND_RULE_H

#include "base/defs.h"

#include <string.h>

#define UNWIND_MAX_REGS 33u		/* DWARF register numbers in rules are lower */

/* The canonical frame address (CFA): the value of the stack pointer before the call. */
enum unwind_cfa {
	UNWIND_CFA_GAP,			/* no rule covers the address */
	UNWIND_CFA_IRREGULAR,		/* a DWARF expression that has no other form */
	UNWIND_CFA_REGISTER,		/* reg + offset */
	UNWIND_CFA_DEREF,		/* *(reg + offset) + add */
	UNWIND_CFA_PLT,			/* reg + offset + ((ip & 15) >= add ? 8 : 0) */
};

enum unwind_value {
	UNWIND_SAME,			/* the register still has the caller's value */
	UNWIND_UNDEFINED,		/* of the return address: outermost frame */
	UNWIND_AT_CFA,			/* *(CFA + offset) */
	UNWIND_CFA_PLUS,		/* CFA + offset */
	UNWIND_AT_REGISTER,		/* *(reg + offset) */
	UNWIND_IN_REGISTER,		/* reg */
	UNWIND_VALUE_IRREGULAR,
};

enum { UNWIND_SIGNAL_FRAME = 1, UNWIND_SIGNED_RA = 2 };	/* flags; the latter: arm64 pointer authentication */

/* Registers have DWARF numbers. Unused members are zero, so equal rules have equal bytes. */
struct unwind_rule {
	uint8_t cfa, cfa_reg;
	uint8_t fp, fp_reg;
	uint8_t ra, ra_reg;
	uint8_t flags, unused;
	int32_t cfa_offset, cfa_add;
	int32_t fp_offset, ra_offset;
};

static inline bool unwind_rule_equal(const struct unwind_rule *a, const struct unwind_rule *b)
{
	return memcmp(a, b, sizeof(*a)) == 0;
}

#endif
