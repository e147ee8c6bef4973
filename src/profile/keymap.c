/*
 * See keymap.h. It grows at two thirds of its capacity, keys and values apart so that nothing is
 * lost to padding.
 */
#include "profile/keymap.h"

#include <errno.h>

#define KEYMAP_FIRST 1024

static void place(struct keymap *m, uint64_t key, uint32_t value)
{
	size_t mask = m->cap - 1, i = key_mix(key) & mask;

	while (m->keys[i] != 0)
		i = (i + 1) & mask;
	m->keys[i] = key;
	m->values[i] = value;
}

static int grow(struct keymap *m)
{
	struct keymap bigger = { .cap = m->cap ? m->cap * 2 : KEYMAP_FIRST };

	bigger.keys = calloc(bigger.cap, sizeof(*bigger.keys));
	bigger.values = reallocarray(NULL, bigger.cap, sizeof(*bigger.values));
	if (!bigger.keys || !bigger.values) {
		free(bigger.keys);
		free(bigger.values);
		return -ENOMEM;
	}
	for (size_t i = 0; i < m->cap; i++)
		if (m->keys[i] != 0)
			place(&bigger, m->keys[i], m->values[i]);
	free(m->keys);
	free(m->values);
	m->keys = bigger.keys;
	m->values = bigger.values;
	m->cap = bigger.cap;
	return 0;
}

int keymap_put(struct keymap *m, uint64_t key, uint32_t value)
{
	size_t i;

	if (key == 0) {
		m->zero = value;
		m->has_zero = true;
		return 0;
	}
	if (m->n * 3 >= m->cap * 2 && grow(m) < 0)
		return -ENOMEM;
	for (i = key_mix(key) & (m->cap - 1); m->keys[i] != 0; i = (i + 1) & (m->cap - 1))
		if (m->keys[i] == key) {
			m->values[i] = value;
			return 0;
		}
	m->keys[i] = key;
	m->values[i] = value;
	m->n++;
	return 0;
}

void keymap_done(struct keymap *m)
{
	free(m->keys);
	free(m->values);
	*m = (struct keymap){ 0 };
}
