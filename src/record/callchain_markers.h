/*
 * Context markers (PERF_CONTEXT_*) in a call chain. They say in which space the following addresses are:
 *
 *	KERNEL k0 k1 USER u0 u1
 */
#ifndef RECORD_CALLCHAIN_MARKERS_H
#define RECORD_CALLCHAIN_MARKERS_H

#include "base/defs.h"

#include <tacho/symbol.h>

#define CONTEXT_FIRST ((uint64_t)-4095)		/* all larger values are markers, not addresses */

#define CONTEXT_HYPERVISOR ((uint64_t)-32)
#define CONTEXT_KERNEL ((uint64_t)-128)
#define CONTEXT_USER ((uint64_t)-512)
#define CONTEXT_USER_DEFERRED ((uint64_t)-640)	/* followed by a cookie; 6.19 */
#define CONTEXT_GUEST ((uint64_t)-2048)
#define CONTEXT_GUEST_KERNEL ((uint64_t)-2176)
#define CONTEXT_GUEST_USER ((uint64_t)-2560)

/* False, with *space unchanged: an unknown marker, or one that is not followed by addresses. */
static inline bool context_space(uint64_t marker, enum tacho_space *space)
{
	switch (marker) {
	case CONTEXT_KERNEL: *space = TACHO_SPACE_KERNEL; return true;
	case CONTEXT_USER: *space = TACHO_SPACE_USER; return true;
	case CONTEXT_HYPERVISOR: *space = TACHO_SPACE_HYPERVISOR; return true;
	case CONTEXT_GUEST:
	case CONTEXT_GUEST_KERNEL: *space = TACHO_SPACE_GUEST_KERNEL; return true;
	case CONTEXT_GUEST_USER: *space = TACHO_SPACE_GUEST_USER; return true;
	default: return false;
	}
}

#endif
