/*
 * The caches between a record and its row. All are direct mapped: a new entry replaces the one in its slot.
 * "Saves" lists the additional instructions (I) and first-level data cache misses (D1) of `tacho report
 * --stdio` without the cache, and the work that the cache avoids (cachegrind; a system-wide recording of
 * 188,000 samples: frame-pointer C++, python, node, sqlite and g++).
 *
 *	cache (owner)			key -> value				saves
 *
 *	fast_path.ids			event id -> event			1.6 % I: the file's table of ids
 *	fast_path.tasks			tid -> thread, task context		3.4 % I: the thread's id, the state of its maps
 *	load.recent_threads		pid, tid -> thread			0.2 % I; 1.0 % with -s cpu, where samples are
 *										decoded: the table of tasks
 *	stack_resolver.leaf_regions	task, space, MiB of address -> interval	3.1 % I: the search of the maps for the leaf
 *	stack_resolver.recent_nodes	hash of raw callers -> node		2.0 % I, 1.3 % D1: entries of the callers
 *					hash of a prefix's locations -> node	6.2 % I, 4.6 % D1: frames and nodes of the prefix
 *	stack_resolver.recent_frames	hash of a location -> frame		1.2 % I, 2.7 % D1: location_frames, which is
 *										larger than the CPU's caches
 *	stack_resolver.unmapped		space -> frame key, code		4.5 % I: the frame of unmapped addresses
 *	fast_path.leaf_rows		location, thread, event -> row		52 % I of a diff of two recordings, in which stacks
 *										are single addresses
 *
 * The fast path as a whole saves 8.2 % I. symbol/code_location.h has the cache of intervals for all other addresses.
 * location_frames, name_ids and object_ids are complete indexes, not caches; so are the links of trie.h.
 */
#ifndef PROFILE_CACHES_H
#define PROFILE_CACHES_H

#include "profile/keymap.h"

/* Code whose samples are one row: a range of offsets in an object. */
struct leaf_row {
	uint64_t tag;			/* hash of object, space, thread and event; 0: free slot */
	uint64_t first;
	uint32_t length;		/* the last offset - first */
	uint32_t lowest;		/* samples below first + lowest do not only belong to the row: they change
					 * its frame */
	uint32_t row;			/* or LEAF_REJECTED: a filter rejects this code, whatever the thread */
};
#define LEAF_REJECTED UINT32_MAX

/* An entry of recent_nodes or recent_frames. */
struct recent_entry {
	uint64_t key;			/* a 64-bit hash: entries with equal keys are assumed to be equal */
	uint32_t id;			/* id of a node or frame, + 1; 0: free slot */
};

/* The id, or KEYMAP_NONE. Branchless, since hits are unpredictable. A free slot yields KEYMAP_NONE for key 0,
 * too. */
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
#define LEAF_ROWS 16384u
#define LEAF_ROWS_SMALL 512u
#define LEAF_ROW_BITS 6			/* offsets are looked up by their upper bits: functions are aligned */
#define RECENT_THREADS 64u
#define FAST_EVENT_IDS 32u
#define FAST_TASKS 64u

#endif
