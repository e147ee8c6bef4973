/*
 * A direct-mapped table that grows while it loses much, up to a limit.
 */
#include "symbol/location_cache.h"

#define FIRST_SIZE 4096u
#define LARGEST_SIZE (1u << 18)

static void grow(struct cache *c)
{
	struct cache bigger = { .cap = c->cap ? c->cap * 4 : FIRST_SIZE };

	bigger.v = calloc(bigger.cap, sizeof(*bigger.v));
	if (!bigger.v)
		return;
	for (size_t i = 0; i < c->cap; i++) {
		const struct cache_entry *e = &c->v[i];

		if (e->spot.object)
			bigger.v[cache_slot(&bigger, &e->spot)] = *e;
	}
	free(c->v);
	*c = bigger;
}

void cache_put(struct cache *c, const struct tacho_spot *p, const struct tacho_frame *f)
{
	struct cache_entry *e;

	if (!c->cap || (c->lost > c->cap / 4 && c->cap < LARGEST_SIZE))
		grow(c);
	if (!c->cap)
		return;
	e = &c->v[cache_slot(c, p)];
	c->lost += e->spot.object != 0;
	*e = (struct cache_entry){ *p, *f };
}

void cache_done(struct cache *c)
{
	free(c->v);
	*c = (struct cache){ 0 };
}
