/*
 * See keymap.h. It grows at two thirds of its capacity.
 */
#include "profile/keymap.h"

#include <errno.h>

#define KEYMAP_FIRST 1024

/* Where the key is, or the free slot where it belongs. */
static struct keymap_slot *place(const struct keymap *m, uint64_t key)
{
	size_t mask = m->cap - 1, i = key_mix(key) & mask;

	while (m->slots[i].value && keymap_key(&m->slots[i]) != key)
		i = (i + 1) & mask;
	return &m->slots[i];
}

static int grow(struct keymap *m)
{
	struct keymap bigger = { .n = m->n, .cap = m->cap ? m->cap * 2 : KEYMAP_FIRST };

	bigger.slots = calloc(bigger.cap, sizeof(*bigger.slots));
	if (!bigger.slots)
		return -ENOMEM;
	for (size_t i = 0; i < m->cap; i++)
		if (m->slots[i].value)
			*place(&bigger, keymap_key(&m->slots[i])) = m->slots[i];
	free(m->slots);
	*m = bigger;
	return 0;
}

uint32_t *keymap_at(struct keymap *m, uint64_t key)
{
	struct keymap_slot *s;

	if (m->n * 3 >= m->cap * 2 && grow(m) < 0)
		return NULL;
	s = place(m, key);
	m->n += !s->value;
	memcpy(s->key, &key, sizeof(key));
	return &s->value;
}

int keymap_put(struct keymap *m, uint64_t key, uint32_t value)
{
	uint32_t *at = keymap_at(m, key);

	if (!at)
		return -ENOMEM;
	*at = value + 1;
	return 0;
}

void keymap_done(struct keymap *m)
{
	free(m->slots);
	*m = (struct keymap){ 0 };
}
