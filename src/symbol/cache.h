/*
 * Addresses that were resolved before, by (version of the maps, address): one look and one
 * compare. It forgets what collides, so it never outgrows its largest size; what is forgotten
 * costs two binary searches.
 */
#ifndef SYMBOL_CACHE_H
#define SYMBOL_CACHE_H

#include "base/defs.h"

#include <tacho/symbol.h>

struct cache_entry {
	uint64_t version;		/* 0: free */
	uint64_t ip;
	struct tacho_frame frame;
};

struct cache {
	struct cache_entry *v;
	size_t cap;			/* a power of two, or 0 */
	size_t lost;			/* entries overwritten since it last grew */
};

static inline size_t cache_slot(const struct cache *c, uint64_t version, uint64_t ip)
{
	uint64_t h = (ip ^ version * 0xff51afd7ed558ccdull) * 0x9e3779b97f4a7c15ull;

	return (size_t)(h >> 32) & (c->cap - 1);
}

static inline const struct tacho_frame *cache_get(const struct cache *c, uint64_t version, uint64_t ip)
{
	const struct cache_entry *e;

	if (!c->cap)
		return NULL;
	e = &c->v[cache_slot(c, version, ip)];
	return e->version == version && e->ip == ip ? &e->frame : NULL;
}

/* Remembers, where there is memory for it. */
void cache_put(struct cache *c, uint64_t version, uint64_t ip, const struct tacho_frame *f);
void cache_done(struct cache *c);

#endif
