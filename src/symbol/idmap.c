/*
 * Open addressing with linear probing, at most half full.
 */
#include "symbol/idmap.h"

#include <errno.h>

static struct idmap_slot *slot_of(const struct idmap *m, uint32_t key)
{
	size_t i = (size_t)((key * 0x9e3779b97f4a7c15ull) >> 32) & (m->cap - 1);

	while (m->slots[i].used && m->slots[i].key != key)
		i = (i + 1) & (m->cap - 1);
	return &m->slots[i];
}

static int grow(struct idmap *m)
{
	struct idmap bigger = { .n = m->n, .cap = m->cap ? m->cap * 2 : 64 };

	bigger.slots = calloc(bigger.cap, sizeof(*bigger.slots));
	if (!bigger.slots)
		return -ENOMEM;
	for (size_t i = 0; i < m->cap; i++)
		if (m->slots[i].used)
			*slot_of(&bigger, m->slots[i].key) = m->slots[i];
	free(m->slots);
	*m = bigger;
	return 0;
}

int idmap_put(struct idmap *m, uint32_t key, uint32_t value)
{
	struct idmap_slot *slot;

	if (m->n >= m->cap / 2 && grow(m) < 0)
		return -ENOMEM;
	slot = slot_of(m, key);
	m->n += !slot->used;
	*slot = (struct idmap_slot){ key, value, true };
	return 0;
}

bool idmap_get(const struct idmap *m, uint32_t key, uint32_t *value)
{
	const struct idmap_slot *slot;

	if (!m->cap)
		return false;
	slot = slot_of(m, key);
	*value = slot->value;
	return slot->used;
}

void idmap_done(struct idmap *m)
{
	free(m->slots);
	*m = (struct idmap){ 0 };
}
