/*
 * The caches between a record and its row. All are direct mapped and lossy: a new entry replaces the one in its slot.
 * TABLE
 */
#ifndef PROFILE_CACHES_H
#define PROFILE_CACHES_H

#include "profile/keymap.h"

/* An entry of recent_nodes or recent_frames. */
struct recent_entry {
	uint64_t key;			/* a 64-bit hash: equal keys are taken for equal */
	uint32_t id;			/* of a node or frame, + 1; 0: free */
};

/* The id, or KEYMAP_NONE. Branchless, since hits are unpredictable. A free slot answers KEYMAP_NONE for key 0, too. */
static inline uint32_t recent_cache_get(const struct recent_entry *slots, size_t mask, uint64_t key)
{
	const struct recent_entry *l = &slots[key & mask];

	return (l->id - 1) | -(uint32_t)(l->key != key);
}

/* Sizes are powers of two. The small ones are for load_next(), which loads a second's samples at a time: clearing and
 * faulting in the large tables would cost more than they save. */
#define RECENT_NODES 65536u
#define RECENT_NODES_SMALL 4096u
#define RECENT_FRAMES 8192u		/* 128 KiB: fits into the L2 cache */
#define RECENT_FRAMES_SMALL 512u
#define LEAF_REGIONS 512u
#define RECENT_THREADS 64u
#define FAST_EVENT_IDS 32u
#define FAST_TASKS 64u

#endif
