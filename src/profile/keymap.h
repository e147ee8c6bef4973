/*
 * A hash map from 64-bit keys to 32-bit ids: open addressing, no deletion. A zeroed one is empty.
 * Keys are either exact (two packed ids) or 64-bit hashes, whose collisions are rare enough to be ignored. The slots of a
 * cache line are filled in order, and only a full line overflows into the next: a lookup mostly reads one cache line,
 * however large the map is.
 */
#ifndef PROFILE_KEYMAP_H
#define PROFILE_KEYMAP_H

#include "base/defs.h"

#include <string.h>

#define KEYMAP_NONE UINT32_MAX

#define KEYMAP_SLOTS 5

struct keymap_line {
	uint64_t key[KEYMAP_SLOTS];
	uint32_t value[KEYMAP_SLOTS];	/* + 1 */
	uint32_t n;			/* slots in use */
};

struct keymap {
	struct keymap_line *lines;
	size_t n;
	size_t n_lines;			/* a power of two, or 0 */
	unsigned shift;			/* 64 - log2(n_lines) */
};

static inline uint64_t key_mix(uint64_t h)
{
	h ^= h >> 32;
	h *= 0x9e3779b97f4a7c15ull;
	return h ^ h >> 32;
}

/* Adds a word to a hash. `h` must be a hash already: two plain numbers may cancel out. */
static inline uint64_t key_add(uint64_t h, uint64_t word)
{
	h = (h ^ word) * 0x9fb21c651e98df25ull;
	return h ^ h >> 32;
}

/* A hash of two words, neither of which is 0. Faster than two key_add(), since several products do not depend on each
 * other. */
static inline uint64_t key_mul(uint64_t a, uint64_t b)
{
	unsigned __int128 product = (unsigned __int128)a * b;

	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static inline uint64_t key_pair(uint32_t high, uint32_t low)
{
	return (uint64_t)high << 32 | low;
}

/* The line where the key belongs: the upper bits of a product, which depend on all bits of the key. */
static inline size_t keymap_line_of(const struct keymap *m, uint64_t key)
{
	return (size_t)(key * 0x9e3779b97f4a7c15ull >> m->shift);
}

/* The slot that has the key, as a bit, or 0. Compares all slots: cheaper than an unpredictable branch (64f7d59: 3.3 ->
 * 1.2 million mispredictions on 1.76 million samples). */
static inline unsigned keymap_line_has(const struct keymap_line *l, uint64_t key)
{
	unsigned bits = 0;

	for (unsigned k = 0; k < KEYMAP_SLOTS; k++)
		bits |= (unsigned)(l->key[k] == key) << k;
	return bits & ((1u << l->n) - 1);
}

/* The value, or KEYMAP_NONE if the key is not in the map. */
static inline uint32_t keymap_get(const struct keymap *m, uint64_t key)
{
	size_t mask = m->n_lines - 1;

	if (!m->n_lines)
		return KEYMAP_NONE;
	for (size_t i = keymap_line_of(m, key);; i = (i + 1) & mask) {
		const struct keymap_line *l = &m->lines[i];
		unsigned has = keymap_line_has(l, key);

		if (has)
			return l->value[__builtin_ctz(has)] - 1;
		if (l->n < KEYMAP_SLOTS)
			return KEYMAP_NONE;
	}
}

/* Prefetches for a lookup that follows soon, also in an empty map: prefetches do not fault. */
static inline void keymap_prefetch(const struct keymap *m, uint64_t key)
{
	__builtin_prefetch((const void *)((uintptr_t)m->lines + sizeof(*m->lines) * keymap_line_of(m, key)));
}

int keymap_put(struct keymap *m, uint64_t key, uint32_t value);	/* replaces; 0 or -ENOMEM */
/* The key's slot, which holds the value + 1. If it is 0 the key is new: the caller stores a value + 1 there, or leaves 0,
 * which keeps the slot for the key. NULL if out of memory. */
uint32_t *keymap_at(struct keymap *m, uint64_t key);
void keymap_done(struct keymap *m);

#endif
