/*
 * Batch address lookup: finds the mapping of many addresses of one process without a library call
 * for each, and prefetches symbol table entries before they are searched. Symbol tables are larger
 * than the CPU's caches and samples access them in random order.
 */
#ifndef SYMBOL_ADDRESS_LOOKUP_H
#define SYMBOL_ADDRESS_LOOKUP_H

#include "symbol/interval_cache.h"
#include "symbol/span.h"

struct address_lookup {
	uint32_t kernel;		/* not 0: object of all addresses; offsets equal addresses */
	struct interval_cache *intervals;
	const struct process *proc;	/* NULL: unknown process, no address is mapped */
	uint64_t version;
};

/* Starts a lookup of addresses of one process in one address space, which must be known. Valid until the next
 * record is fed to the symbols. Returns 0 or -ENOMEM. */
int symbols_lookup_begin(struct tacho_symbols *s, uint32_t pid, enum tacho_space space,
			 struct address_lookup *out);

/* Whether the result for an address depends only on the version of the maps. While a process is inside
 * exec(), it does not, because addresses may still belong to the old program. */
static inline bool address_lookup_is_stable(const struct address_lookup *w)
{
	return !w->proc || !w->proc->before;
}
uint64_t symbols_kernel_version(const struct tacho_symbols *s);	/* version of the kernel's maps */

/* The interval that contains a user space address. Two of three addresses lie in the same interval as the one
 * before, so callers should check that interval first. */
static inline struct interval address_lookup_find(const struct address_lookup *w, uint64_t ip)
{
	const struct cached_interval *m;

	if (!w->proc)
		return (struct interval){ .last = UINT64_MAX };
	m = interval_cache_slot(w->intervals, w->version, ip);
	if (cached_interval_covers(m, w->version, ip))
		return m->where;
	m = interval_cache_search(w->intervals, w->proc, ip);
	if (m->version == w->version)
		return m->where;
	/* During exec() the result holds for this address only. */
	return (struct interval){ ip, ip, m->where.bias, m->where.object };
}

/* Cuts the span around a location to locations that resolve to the same symbol, or all to none. It must have been resolved
 * before. False: this is not known, or may still change. */
bool symbols_span(const struct tacho_symbols *s, enum tacho_space space, const struct tacho_spot *spot, struct span *out);
void symbols_prefetch(const struct tacho_symbols *s, enum tacho_space space, const struct tacho_spot *spot);

#endif
