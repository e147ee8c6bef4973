/*
 * A cache of address lookups in the maps of processes: the addresses of a call chain lie in a few
 * intervals, and those of the next sample in the same ones. Entries are keyed by the version of the
 * maps. A version is never reused, so no entry has to be invalidated when maps change, processes
 * fork or pids are reused.
 */
#ifndef SYMBOL_INTERVAL_CACHE_H
#define SYMBOL_INTERVAL_CACHE_H

#include "symbol/process.h"

#include <tacho/symbol.h>

#define INTERVAL_CACHE_SLOTS 1024u		/* a power of two */
#define INTERVAL_REGION_BITS 20		/* addresses within one megabyte share a slot */
#define LOCATION_KERNEL (1u << 31)		/* flag in tacho_spot.object; other bits: kernel_state */

struct cached_interval {
	uint64_t version;		/* 0: free */
	struct interval where;
};

struct interval_cache {
	struct cached_interval v[INTERVAL_CACHE_SLOTS];
	struct cached_interval uncached;	/* a result that must not be cached; its version is 0 */
	uint64_t kernel_version;	/* version of the kernel's maps at the last lookup */
	uint32_t kernel_state;		/* incremented whenever that version changes */
};

/* The kernel has one address space, but the meaning of an address changes with its maps (modules, BPF). */
static inline uint32_t kernel_location_object(struct interval_cache *cache, const struct maps *maps)
{
	if (cache->kernel_version != maps->version) {
		cache->kernel_version = maps->version;
		cache->kernel_state++;
	}
	return LOCATION_KERNEL | cache->kernel_state;
}

/* Searches the maps of the process, then those from before its exec. If nothing is mapped there, returns the
 * gap around the address, with object 0: frame pointer chains through code without frame pointers contain
 * many such addresses. The result is valid until the next search. */
const struct cached_interval *interval_cache_search(struct interval_cache *cache,
						    const struct process *proc, uint64_t ip);

static inline struct cached_interval *interval_cache_slot(struct interval_cache *cache,
							  uint64_t version, uint64_t ip)
{
	uint64_t h = ((ip >> INTERVAL_REGION_BITS) + version * 61) * 0x9e3779b97f4a7c15ull;

	return &cache->v[h >> 32 & (INTERVAL_CACHE_SLOTS - 1)];
}

static inline bool cached_interval_covers(const struct cached_interval *m, uint64_t version, uint64_t ip)
{
	return m->version == version && interval_has(&m->where, ip);
}

#endif
