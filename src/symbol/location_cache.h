/*
 * A cache from code locations (object and offset) to frames: a hit costs one lookup and one compare.
 * Processes share mapped objects, so a program that runs a thousand times at different addresses is
 * resolved once. Colliding entries are replaced, so the size is bounded; a miss costs a binary search.
 */
#ifndef SYMBOL_LOCATION_CACHE_H
#define SYMBOL_LOCATION_CACHE_H

#include "base/defs.h"

#include <tacho/symbol.h>

struct location_cache_entry {
	struct tacho_spot spot;		/* object 0: free slot */
	struct tacho_frame frame;
};

struct location_cache {
	struct location_cache_entry *v;
	size_t cap;			/* a power of two, or 0 */
	size_t lost;			/* entries overwritten since it last grew */
};

static inline size_t location_cache_slot(const struct location_cache *c, const struct tacho_spot *p)
{
	uint64_t h = (p->offset ^ p->object * 0xff51afd7ed558ccdull) * 0x9e3779b97f4a7c15ull;

	return (size_t)(h >> 32) & (c->cap - 1);
}

static inline const struct tacho_frame *location_cache_get(const struct location_cache *c,
							   const struct tacho_spot *p)
{
	const struct location_cache_entry *e;

	if (!c->cap)
		return NULL;
	e = &c->v[location_cache_slot(c, p)];
	return e->spot.object == p->object && e->spot.offset == p->offset ? &e->frame : NULL;
}

/* Stores an entry; does nothing without memory. */
void location_cache_put(struct location_cache *c, const struct tacho_spot *p, const struct tacho_frame *f);
void location_cache_done(struct location_cache *c);

#endif
