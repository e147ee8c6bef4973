/*
 * A direct-mapped cache that grows, up to a limit, while many entries are evicted by collisions.
 */
#include "symbol/location_cache.h"

#define FIRST_SIZE 4096u
#define LARGEST_SIZE (1u << 18)

static void grow(struct location_cache *c)
{
	struct location_cache bigger = { .cap = c->cap ? c->cap * 4 : FIRST_SIZE };

	bigger.v = calloc(bigger.cap, sizeof(*bigger.v));
	if (!bigger.v)
		return;
	for (size_t i = 0; i < c->cap; i++) {
		const struct location_cache_entry *e = &c->v[i];

		if (e->spot.object)
			bigger.v[location_cache_slot(&bigger, &e->spot)] = *e;
	}
	free(c->v);
	*c = bigger;
}

void location_cache_put(struct location_cache *c, const struct tacho_spot *p, const struct tacho_frame *f)
{
	struct location_cache_entry *e;

	if (!c->cap || (c->lost > c->cap / 4 && c->cap < LARGEST_SIZE))
		grow(c);
	if (!c->cap)
		return;
	e = &c->v[location_cache_slot(c, p)];
	c->lost += e->spot.object != 0;
	*e = (struct location_cache_entry){ *p, *f };
}

void location_cache_done(struct location_cache *c)
{
	free(c->v);
	*c = (struct location_cache){ 0 };
}
