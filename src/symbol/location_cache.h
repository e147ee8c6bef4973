/*
 * Spots that were resolved before: one look and one compare. Processes share what they map, so a
 * program that runs a thousand times, each time elsewhere in memory, is resolved once. It forgets
 * what collides, so it never outgrows its largest size; what is forgotten costs a binary search.
 */
#ifndef SYMBOL_LOCATION_CACHE_H
#define SYMBOL_LOCATION_CACHE_H

#include "base/defs.h"

#include <tacho/symbol.h>

struct cache_entry {
	struct tacho_spot spot;		/* of no object: free */
	struct tacho_frame frame;
};

struct cache {
	struct cache_entry *v;
	size_t cap;			/* a power of two, or 0 */
	size_t lost;			/* entries overwritten since it last grew */
};

static inline size_t cache_slot(const struct cache *c, const struct tacho_spot *p)
{
	uint64_t h = (p->offset ^ p->object * 0xff51afd7ed558ccdull) * 0x9e3779b97f4a7c15ull;

	return (size_t)(h >> 32) & (c->cap - 1);
}

static inline const struct tacho_frame *cache_get(const struct cache *c, const struct tacho_spot *p)
{
	const struct cache_entry *e;

	if (!c->cap)
		return NULL;
	e = &c->v[cache_slot(c, p)];
	return e->spot.object == p->object && e->spot.offset == p->offset ? &e->frame : NULL;
}

/* Remembers, where there is memory for it. */
void cache_put(struct cache *c, const struct tacho_spot *p, const struct tacho_frame *f);
void cache_done(struct cache *c);

#endif
