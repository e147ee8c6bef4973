/*
 * Walks a stack from the registers and the copy of the stack in a sample: looks up the rule of each frame's
 * address, recovers the registers of its caller, and so on up to the outermost frame.
 */
#ifndef UNWIND_WALK_H
#define UNWIND_WALK_H

#include "unwind/arch.h"
#include "unwind/rule.h"

struct unwind_code {			/* what is known about an address */
	const struct unwind_rule *rule;	/* NULL: none */
	bool mapped;			/* code is mapped there */
};
/* The address is that of an instruction: of the call, not of the return address behind it. */
typedef struct unwind_code (*unwind_lookup_fn)(void *arg, uint64_t address);

enum unwind_end {
	UNWIND_END_OUTERMOST,		/* the whole stack was walked */
	UNWIND_END_TRUNCATED,		/* the next frame lies outside the copy of the stack */
	UNWIND_END_NO_RULE,		/* code without a rule, and the frame pointer leads nowhere */
	UNWIND_END_IRREGULAR,		/* a rule that only a DWARF interpreter can follow */
	UNWIND_END_INVALID,		/* a return address that is not in code, or a stack that does not grow */
	UNWIND_END_FULL,		/* more frames than the caller has space for */
	UNWIND_ENDS
};

struct unwind_stack {
	const struct unwind_arch *arch;
	uint64_t regs[UNWIND_MAX_REGS];	/* by DWARF number */
	uint64_t known;			/* bit per register */
	uint64_t ip;
	uint64_t start;			/* address of the copy's first byte */
	const uint8_t *bytes;
	size_t n;
};

/* Writes the addresses of the frames, leaf first, to `out`: the leaf's own, of callers that of the call instruction's last byte.
 * *n_out is their number, at least 1 if max > 0. The stack's registers are overwritten. */
enum unwind_end unwind_walk(struct unwind_stack *s, unwind_lookup_fn lookup, void *arg, uint64_t *out, size_t max,
			    size_t *n_out);

#endif
