/*
 * A hash map from 64-bit keys to 32-bit ids: open addressing, no deletion. A zeroed one is empty.
 * Keys are either exact (two ids packed) or hashes wide enough not to meet. The slots of one line of
 * cache are filled from the first on, and only a full one overflows into the next: a look mostly
 * costs one line, however large the map.
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
	uint32_t n;			/* how many are taken; 64 bytes in all */
};

struct keymap {
	struct keymap_line *lines;
	size_t n;
	size_t n_lines;			/* a power of two, or 0 */
	unsigned shift;			/* 64 - its logarithm */
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

/* A hash of two words, of which neither is 0. Faster than adding one after the other, as several do not wait for
 * each other. */
static inline uint64_t key_mul(uint64_t a, uint64_t b)
{
	unsigned __int128 product = (unsigned __int128)a * b;

	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static inline uint64_t key_pair(uint32_t high, uint32_t low)
{
	return (uint64_t)high << 32 | low;
}

/* The line where the key belongs: the upper bits of a product, which all bits of the key have a part in. */
static inline size_t keymap_line_of(const struct keymap *m, uint64_t key)
{
	return (size_t)(key * 0x9e3779b97f4a7c15ull >> m->shift);
}

/* The slot that has the key, as a bit, or 0. All are looked at, whichever it is: that takes less than a
 * branch that nobody can foretell. */
static inline unsigned keymap_line_has(const struct keymap_line *l, uint64_t key)
{
	unsigned bits = 0;

	for (unsigned k = 0; k < KEYMAP_SLOTS; k++)
		bits |= (unsigned)(l->key[k] == key) << k;
	return bits & ((1u << l->n) - 1);
}

/* Returns KEYMAP_NONE where there is none. */
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

/* The key will be asked for soon: several at once cost hardly more than one. Of an empty map any address will do. */
static inline void keymap_prefetch(const struct keymap *m, uint64_t key)
{
	__builtin_prefetch((const void *)((uintptr_t)m->lines + sizeof(*m->lines) * keymap_line_of(m, key)));
}

int keymap_put(struct keymap *m, uint64_t key, uint32_t value);	/* replaces; 0 or -ENOMEM */
/* Where the key's value stands, + 1. 0: it is new, and the caller puts its value there, or leaves it
 * out again. NULL without memory. */
uint32_t *keymap_at(struct keymap *m, uint64_t key);
void keymap_done(struct keymap *m);

#endif
