/*
 * Which interval an address lies in, remembered: a chain's addresses lie in a few intervals, and
 * the next sample's in the same ones. A version names one state of one set of maps for ever, so
 * nothing has to be forgotten when maps change, processes fork or pids are used again.
 */
#ifndef SYMBOL_CODE_LOCATION_H
#define SYMBOL_CODE_LOCATION_H

#include "symbol/process.h"

#include <tacho/symbol.h>

#define SPOT_MEMOS 1024u		/* a power of two */
#define SPOT_REGION_BITS 20		/* an interval is looked for by the megabyte */
#define SPOT_KERNEL (1u << 31)		/* in `object`: the rest tells states of its maps apart */

struct spot_memo {
	uint64_t version;		/* 0: free */
	struct interval where;
};

struct spots_seen {
	struct spot_memo v[SPOT_MEMOS];
	struct spot_memo passing;	/* what must not be remembered; its version is 0 */
	uint64_t kernel_version;	/* of the kernel's maps when it was last asked for */
	uint32_t kernel_state;		/* how often that was another */
};

/* The kernel has one address space; what an address in it means changes with its maps. */
static inline uint32_t spots_of_kernel(struct spots_seen *seen, const struct maps *maps)
{
	if (seen->kernel_version != maps->version) {
		seen->kernel_version = maps->version;
		seen->kernel_state++;
	}
	return SPOT_KERNEL | seen->kernel_state;
}

/* What the process has, or had before exec, at the address; or the gap there, whose object is 0: chains
 * walked without frame pointers are full of addresses where nothing is. Holds until the next search. */
const struct spot_memo *spot_search(struct spots_seen *seen, const struct process *proc, uint64_t ip);

static inline struct spot_memo *spot_memo(struct spots_seen *seen, uint64_t version, uint64_t ip)
{
	uint64_t h = ((ip >> SPOT_REGION_BITS) + version * 61) * 0x9e3779b97f4a7c15ull;

	return &seen->v[h >> 32 & (SPOT_MEMOS - 1)];
}

static inline bool spot_memo_has(const struct spot_memo *m, uint64_t version, uint64_t ip)
{
	return m->version == version && interval_has(&m->where, ip);
}

#endif
