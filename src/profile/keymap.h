/*
 * A hash map from 64-bit keys to 32-bit ids: open addressing, no deletion. A zeroed one is empty.
 * Keys are either exact (two ids packed) or hashes wide enough not to meet.
 */
#ifndef PROFILE_KEYMAP_H
#define PROFILE_KEYMAP_H

#include "base/defs.h"

#define KEYMAP_NONE UINT32_MAX

struct keymap {
	uint64_t *keys;			/* 0: free; the key 0 itself is kept in `zero` */
	uint32_t *values;
	size_t n, cap;			/* cap is a power of two, or 0 */
	uint32_t zero;
	bool has_zero;
};

static inline uint64_t key_mix(uint64_t h)
{
	h *= 0x9e3779b97f4a7c15ull;
	return h ^ h >> 32;
}

static inline uint64_t key_pair(uint32_t high, uint32_t low)
{
	return (uint64_t)high << 32 | low;
}

/* Returns KEYMAP_NONE where there is none. */
static inline uint32_t keymap_get(const struct keymap *m, uint64_t key)
{
	size_t mask = m->cap - 1;

	if (key == 0)
		return m->has_zero ? m->zero : KEYMAP_NONE;
	if (!m->cap)
		return KEYMAP_NONE;
	for (size_t i = key_mix(key) & mask;; i = (i + 1) & mask) {
		if (m->keys[i] == key)
			return m->values[i];
		if (m->keys[i] == 0)
			return KEYMAP_NONE;
	}
}

int keymap_put(struct keymap *m, uint64_t key, uint32_t value);	/* replaces; 0 or -ENOMEM */
void keymap_done(struct keymap *m);

#endif
