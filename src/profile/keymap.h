/*
 * A hash map from 64-bit keys to 32-bit ids: open addressing, no deletion. A zeroed one is empty.
 * Keys are either exact (two ids packed) or hashes wide enough not to meet. A slot is twelve bytes,
 * so that a look costs one line of cache and millions of slots little memory.
 */
#ifndef PROFILE_KEYMAP_H
#define PROFILE_KEYMAP_H

#include "base/defs.h"

#include <string.h>

#define KEYMAP_NONE UINT32_MAX

struct keymap_slot {
	uint32_t key[2];
	uint32_t value;			/* + 1; 0: free */
};

struct keymap {
	struct keymap_slot *slots;
	size_t n, cap;			/* cap is a power of two, or 0 */
	size_t room;			/* slots there is memory for */
};

static inline uint64_t key_mix(uint64_t h)
{
	h ^= h >> 32;
	h *= 0x9e3779b97f4a7c15ull;
	return h ^ h >> 32;
}

/* Adds a word to a hash. The hash must be one already: two plain numbers would cancel out. */
static inline uint64_t key_add(uint64_t h, uint64_t word)
{
	h = (h ^ word) * 0x9fb21c651e98df25ull;
	return h ^ h >> 32;
}

static inline uint64_t key_pair(uint32_t high, uint32_t low)
{
	return (uint64_t)high << 32 | low;
}

static inline uint64_t keymap_key(const struct keymap_slot *s)
{
	uint64_t key;

	memcpy(&key, s->key, sizeof(key));
	return key;
}

/* Returns KEYMAP_NONE where there is none. */
static inline uint32_t keymap_get(const struct keymap *m, uint64_t key)
{
	size_t mask = m->cap - 1;

	if (!m->cap)
		return KEYMAP_NONE;
	for (size_t i = key_mix(key) & mask;; i = (i + 1) & mask) {
		const struct keymap_slot *s = &m->slots[i];

		if (!s->value)
			return KEYMAP_NONE;
		if (keymap_key(s) == key)
			return s->value - 1;
	}
}

/* The slot will be asked for soon: several at once cost hardly more than one. */
static inline void keymap_prefetch(const struct keymap *m, uint64_t key)
{
	if (m->cap)
		__builtin_prefetch(&m->slots[key_mix(key) & (m->cap - 1)], 1);
}

int keymap_put(struct keymap *m, uint64_t key, uint32_t value);	/* replaces; 0 or -ENOMEM */
/* Where the key's value stands, + 1. 0: it is new, and the caller puts its value there, or leaves it
 * out again. NULL without memory. */
uint32_t *keymap_at(struct keymap *m, uint64_t key);
void keymap_done(struct keymap *m);

#endif
