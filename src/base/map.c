/*
 * Open addressing with linear probing, at most three quarters full. Keys are never removed.
 */
#include "base/map.h"

#include <errno.h>

uint64_t str_hash(struct str s)
{
	uint64_t h = 0xcbf29ce484222325ULL;	/* FNV-1a, with a final mix for the low bits */

	for (size_t i = 0; i < s.n; i++)
		h = (h ^ (unsigned char)s.s[i]) * 0x100000001b3ULL;
	h ^= h >> 32;
	h *= 0x9e3779b97f4a7c15ULL;
	return h ^ (h >> 29);
}

void map_done(struct map *m)
{
	free(m->slots);
	*m = (struct map){ 0 };
}

/* Hashes eight bytes at a time, because keys are names and paths, which are long. The result depends on the
 * byte order; str_hash() does not, because file names and colours are derived from it. */
static uint64_t key_hash(struct str key)
{
	uint64_t h = key.n, word;
	size_t at = 0;

	for (; key.n - at >= sizeof(word); at += sizeof(word)) {
		memcpy(&word, key.s + at, sizeof(word));
		h = (h ^ word) * 0x9e3779b97f4a7c15ULL;
		h ^= h >> 32;
	}
	word = 0;
	memcpy(&word, key.s + at, key.n - at);
	h = (h ^ word) * 0x9e3779b97f4a7c15ULL;
	return h ^ h >> 32;
}

static struct map_slot *slot_of(const struct map *m, struct str key)
{
	size_t i = key_hash(key) & (m->cap - 1);

	while (m->slots[i].key.s && !str_eq(m->slots[i].key, key))
		i = (i + 1) & (m->cap - 1);
	return &m->slots[i];
}

static int grow(struct map *m)
{
	struct map bigger = { .n = m->n, .cap = m->cap ? m->cap * 2 : 16 };

	bigger.slots = calloc(bigger.cap, sizeof(*bigger.slots));
	if (!bigger.slots)
		return -ENOMEM;
	for (size_t i = 0; i < m->cap; i++)
		if (m->slots[i].key.s)
			*slot_of(&bigger, m->slots[i].key) = m->slots[i];
	free(m->slots);
	*m = bigger;
	return 0;
}

int map_put(struct map *m, struct str key, uint64_t value)
{
	struct map_slot *slot;

	if (!key.s)
		key.s = "";
	if (m->n >= m->cap / 4 * 3 && grow(m) < 0)
		return -ENOMEM;
	slot = slot_of(m, key);
	if (!slot->key.s) {
		slot->key = key;
		m->n++;
	}
	slot->value = value;
	return 0;
}

const uint64_t *map_get(const struct map *m, struct str key)
{
	struct map_slot *slot;

	if (!m->cap)
		return NULL;
	if (!key.s)
		key.s = "";
	slot = slot_of(m, key);
	return slot->key.s ? &slot->value : NULL;
}
