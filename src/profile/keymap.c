/*
 * Inserts into the map and grows it: it doubles when four of five slots are in use.
 */
#include "profile/keymap.h"

#include "base/large_memory.h"

#include <errno.h>

#define FIRST_LINES 64u
#define FIRST_SHIFT (64u - 6u)
#define MAX_USED 4u			/* maximum average number of used slots per line */

/* Puts a new key into the first line with a free slot, beginning with `line`. */
static uint32_t *insert_key(const struct keymap *m, size_t line, uint64_t key)
{
	struct keymap_line *l = &m->lines[line];

	while (l->n == KEYMAP_SLOTS) {
		line = (line + 1) & (m->n_lines - 1);
		l = &m->lines[line];
	}
	l->key[l->n] = key;
	return &l->value[l->n++];
}

/* The slot of the key, which is inserted if it is new. */
static uint32_t *find_or_insert(const struct keymap *m, uint64_t key)
{
	for (size_t i = keymap_line_of(m, key);; i = (i + 1) & (m->n_lines - 1)) {
		struct keymap_line *l = &m->lines[i];
		unsigned has = keymap_line_has(l, key);

		if (has)
			return &l->value[__builtin_ctz(has)];
		if (l->n < KEYMAP_SLOTS)
			return insert_key(m, i, key);
	}
}

/* The keys of a line go to two adjacent lines of the larger map, so both are accessed sequentially. */
static int grow(struct keymap *m)
{
	struct keymap bigger = { .n = m->n, .n_lines = m->n_lines ? m->n_lines * 2 : FIRST_LINES };

	bigger.shift = m->n_lines ? m->shift - 1 : FIRST_SHIFT;
	bigger.lines = large_alloc_huge(bigger.n_lines * sizeof(*bigger.lines));
	if (!bigger.lines)
		return -ENOMEM;
	memset(bigger.lines, 0, bigger.n_lines * sizeof(*bigger.lines));
	for (size_t i = 0; i < m->n_lines; i++)
		for (size_t k = 0; k < m->lines[i].n; k++) {
			uint64_t key = m->lines[i].key[k];

			*insert_key(&bigger, keymap_line_of(&bigger, key), key) = m->lines[i].value[k];
		}
	free(m->lines);
	*m = bigger;
	return 0;
}

uint32_t *keymap_at(struct keymap *m, uint64_t key)
{
	uint32_t *value;

	if (m->n >= m->n_lines * MAX_USED && grow(m) < 0)
		return NULL;
	value = find_or_insert(m, key);
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
