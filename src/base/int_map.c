/*
 * Adding keys to an int_map; lookups are inline in the header.
 */
#include "base/int_map.h"

#include <errno.h>

static struct int_map_slot *slot_for(const struct int_map *m, uint64_t key)
{
	size_t i = int_map_home(m, key);

	while (m->slots[i].used && m->slots[i].key != key)
		i = (i + 1) & (m->cap - 1);
	return &m->slots[i];
}

static int grow(struct int_map *m)
{
	struct int_map bigger = { .n = m->n, .cap = m->cap ? m->cap * 2 : 64 };

	bigger.slots = calloc(bigger.cap, sizeof(*bigger.slots));
	if (!bigger.slots)
		return -ENOMEM;
	for (size_t i = 0; i < m->cap; i++)
		if (m->slots[i].used)
			*slot_for(&bigger, m->slots[i].key) = m->slots[i];
	free(m->slots);
	*m = bigger;
	return 0;
}

int int_map_put(struct int_map *m, uint64_t key, uint32_t value)
{
	struct int_map_slot *slot;

	if (m->n >= m->cap / 2 && grow(m) < 0)
		return -ENOMEM;
	slot = slot_for(m, key);
	m->n += !slot->used;
	*slot = (struct int_map_slot){ key, value, true };
	return 0;
}

void int_map_done(struct int_map *m)
{
	free(m->slots);
	*m = (struct int_map){ 0 };
}
