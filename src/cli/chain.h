/*
 * The markers in a call chain, which say where the addresses behind them lie.
 */
#ifndef CLI_CHAIN_H
#define CLI_CHAIN_H

#include <tacho/symbol.h>

#define CONTEXT_LEAST ((uint64_t)-4095)

enum { CONTEXT_KERNEL = -128, CONTEXT_USER = -512, CONTEXT_USER_DEFERRED = -640,
       CONTEXT_HV = -32, CONTEXT_GUEST = -2048, CONTEXT_GUEST_KERNEL = -2176,
       CONTEXT_GUEST_USER = -2560 };

/* False: a marker that nothing is known of, or that what follows it is no address. */
static inline bool chain_space(uint64_t marker, enum tacho_space *space)
{
	switch ((int64_t)marker) {
	case CONTEXT_KERNEL: *space = TACHO_SPACE_KERNEL; return true;
	case CONTEXT_USER: *space = TACHO_SPACE_USER; return true;
	case CONTEXT_HV: *space = TACHO_SPACE_HYPERVISOR; return true;
	case CONTEXT_GUEST_KERNEL: *space = TACHO_SPACE_GUEST_KERNEL; return true;
	case CONTEXT_GUEST:
	case CONTEXT_GUEST_USER: *space = TACHO_SPACE_GUEST_USER; return true;
	default: return false;
	}
}

#endif
