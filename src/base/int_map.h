/*
 * A hash map from 64-bit keys to 32-bit values, with open addressing, at most half full. Keys are never removed. A
 * zero-initialized map is empty.
 *
 * Other hash tables in the tree exist for a reason: profile/keymap.h (one cache line per lookup in very large maps),
 * perfdata/group_sample_weights.c (keys of 96 bits), report/distinct_values.h (keys of several numbers), and caches that
 * overwrite entries, such as symbol/location_cache.h.
 */
#ifndef BASE_INT_MAP_H
#define BASE_INT_MAP_H

#include "base/defs.h"

struct int_map_slot {
	uint64_t key;
	uint32_t value;
	bool used;
};

struct int_map {
	struct int_map_slot *slots;
	size_t n, cap;			/* cap is a power of two */
};

int int_map_put(struct int_map *m, uint64_t key, uint32_t value);	/* adds or replaces; 0 or -ENOMEM */
void int_map_done(struct int_map *m);

static inline size_t int_map_home(const struct int_map *m, uint64_t key)
{
	return (size_t)(key * 0x9e3779b97f4a7c15ULL >> 32) & (m->cap - 1);
}

/* The slot of the key, or NULL if it is not in the map. */
static inline const struct int_map_slot *int_map_find(const struct int_map *m, uint64_t key)
{
	if (!m->cap)
		return NULL;
	for (size_t i = int_map_home(m, key); m->slots[i].used; i = (i + 1) & (m->cap - 1))
		if (m->slots[i].key == key)
			return &m->slots[i];
	return NULL;
}

/* Whether the key is in the map; *value is only written then. */
static inline bool int_map_get(const struct int_map *m, uint64_t key, uint32_t *value)
{
	const struct int_map_slot *slot = int_map_find(m, key);

	if (slot)
		*value = slot->value;
	return slot;
}

#endif
