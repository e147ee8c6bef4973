/*
 * A hash map from strings to 64-bit values. Keys are borrowed: they must outlive the map
 * (an arena or a strtab is the usual home). A zeroed map is empty.
 */
#ifndef BASE_MAP_H
#define BASE_MAP_H

#include "base/str.h"

struct map_slot {
	struct str key;		/* key.s == NULL: free */
	uint64_t value;
};

struct map {
	struct map_slot *slots;
	size_t n, cap;		/* cap is a power of two */
};

void map_done(struct map *m);
int map_put(struct map *m, struct str key, uint64_t value);	/* replaces; 0 or -ENOMEM */
const uint64_t *map_get(const struct map *m, struct str key);	/* NULL: not there */
uint64_t str_hash(struct str s);

#endif
