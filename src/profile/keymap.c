/*
 * See keymap.h. It grows when four of five slots are taken.
 */
#include "profile/keymap.h"

#include "base/large_memory.h"

#include <errno.h>

#define LINES_FIRST 64u
#define SHIFT_FIRST (64u - 6u)
#define TAKEN_MOST 4u			/* of a line's slots, on average */

/* The first line with a free slot, from the one on where the key belongs, gets it. */
static uint32_t *place_new(const struct keymap *m, size_t line, uint64_t key)
{
	struct keymap_line *l = &m->lines[line];

	while (l->n == KEYMAP_SLOTS) {
		line = (line + 1) & (m->n_lines - 1);
		l = &m->lines[line];
	}
	l->key[l->n] = key;
	return &l->value[l->n++];
}

/* Where the key's value is, or the free slot where it belongs. */
static uint32_t *place(const struct keymap *m, uint64_t key)
{
	for (size_t i = keymap_line_of(m, key);; i = (i + 1) & (m->n_lines - 1)) {
		struct keymap_line *l = &m->lines[i];
		unsigned has = keymap_line_has(l, key);

		if (has)
			return &l->value[__builtin_ctz(has)];
		if (l->n < KEYMAP_SLOTS)
			return place_new(m, i, key);
	}
}

/* A line's keys go to two lines, one behind the other: both tables are walked through in order. */
static int grow(struct keymap *m)
{
	struct keymap bigger = { .n = m->n, .n_lines = m->n_lines ? m->n_lines * 2 : LINES_FIRST };

	bigger.shift = m->n_lines ? m->shift - 1 : SHIFT_FIRST;
	bigger.lines = large_alloc_huge(bigger.n_lines * sizeof(*bigger.lines));
	if (!bigger.lines)
		return -ENOMEM;
	memset(bigger.lines, 0, bigger.n_lines * sizeof(*bigger.lines));
	for (size_t i = 0; i < m->n_lines; i++)
		for (size_t k = 0; k < m->lines[i].n; k++) {
			uint64_t key = m->lines[i].key[k];

			*place_new(&bigger, keymap_line_of(&bigger, key), key) = m->lines[i].value[k];
		}
	free(m->lines);
	*m = bigger;
	return 0;
}

uint32_t *keymap_at(struct keymap *m, uint64_t key)
{
	uint32_t *value;

	if (m->n >= m->n_lines * TAKEN_MOST && grow(m) < 0)
		return NULL;
	value = place(m, key);
	m->n += !*value;
	return value;
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
	free(m->lines);
	*m = (struct keymap){ 0 };
}
