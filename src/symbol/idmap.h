/*
 * A hash map from 32-bit numbers (pids, tids) to 32-bit values, without deletion. A zeroed map is
 * empty.
 */
#ifndef SYMBOL_IDMAP_H
#define SYMBOL_IDMAP_H

#include "base/defs.h"

struct idmap_slot {
	uint32_t key, value;
	bool used;
};

struct idmap {
	struct idmap_slot *slots;
	size_t n, cap;			/* cap is a power of two */
};

int idmap_put(struct idmap *m, uint32_t key, uint32_t value);		/* 0 or -ENOMEM */
bool idmap_get(const struct idmap *m, uint32_t key, uint32_t *value);
void idmap_done(struct idmap *m);

#endif
