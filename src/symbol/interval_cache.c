/*
 * The slow path of the interval cache: searches the maps and fills the slot.
 */
#include "symbol/interval_cache.h"

/* A function of a JIT compiler replaces what the maps have at its addresses. */
static struct interval with_function(const struct maps *functions, uint64_t ip, struct interval where)
{
	struct interval in = maps_around(functions, ip);

	if (!in.object) {
		where.start = max_of(where.start, in.start);
		where.last = min_of(where.last, in.last);
		return where;
	}
	return in;
}

const struct cached_interval *interval_cache_search(struct interval_cache *cache,
						    const struct process *proc, uint64_t ip)
{
	struct interval where = maps_around(proc->maps, ip);
	struct cached_interval *slot = interval_cache_slot(cache, proc->maps->version, ip);
	const struct interval *before;

	/* Not cached: the new program may map something there at any moment. */
	if (!where.object && proc->before) {
		before = maps_find(proc->before, ip);
		cache->uncached.where = before ? *before : where;
		return &cache->uncached;
	}
	if (proc->jit)
		where = with_function(proc->jit, ip, where);
	*slot = (struct cached_interval){ proc->maps->version, where };
	return slot;
}
