/*
 * A hash map from strings to 64-bit values. Keys are borrowed and must outlive the map; they usually
 * live in an arena. A zero-initialized map is empty.
 */
#ifndef BASE_MAP_H
#define BASE_MAP_H

#include "base/str.h"

struct map_slot {
	struct str key;		/* key.s == NULL: unused slot */
	uint64_t value;
};

struct map {
	struct map_slot *slots;
	size_t n, cap;		/* cap is a power of two */
};

void map_done(struct map *m);
int map_put(struct map *m, struct str key, uint64_t value);	/* adds or replaces; 0 or -ENOMEM */
const uint64_t *map_get(const struct map *m, struct str key);	/* NULL: no such key */
/* A hash that is the same on all machines, for values that are stored or shown. */
uint64_t str_hash(struct str s);

#endif
