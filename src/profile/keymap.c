/*
 * See keymap.h. It grows at two thirds of its capacity.
 */
#include "profile/keymap.h"

#include "base/vec.h"

#include <errno.h>

#define VEC_LARGE ((size_t)1 << 20)
#define VEC_APART ((size_t)64 << 20)

#define KEYMAP_FIRST 1024

/* Where the key is, or the free slot where it belongs. */
static struct keymap_slot *place(const struct keymap *m, uint64_t key)
{
	size_t mask = m->cap - 1, i = key_mix(key) & mask;

	while (m->slots[i].value && keymap_key(&m->slots[i]) != key)
		i = (i + 1) & mask;
	return &m->slots[i];
}

/* Memory for twice as many slots, of which the new ones are free. A large table gets it far ahead, as
 * arrays do (base/vec.h). */
static int make_room(struct keymap *m, size_t cap)
{
	struct keymap_slot *bigger;
	size_t room = cap;

	if (cap > m->room) {
		if (sizeof(void *) >= 8 && cap > VEC_LARGE / sizeof(*bigger))
			room = max_of(cap, VEC_APART / sizeof(*bigger) + 1);
		bigger = reallocarray(m->slots, room, sizeof(*bigger));
		if (!bigger)
			return -ENOMEM;
		m->slots = bigger;
		m->room = room;
	}
	memset(m->slots + m->cap, 0, (cap - m->cap) * sizeof(*m->slots));
	return 0;
}

/* Takes the slots from `from` to `to` out and puts each where it belongs now. */
static void move_slots(struct keymap *m, size_t from, size_t to)
{
	for (size_t i = from; i < to; i++) {
		struct keymap_slot s = m->slots[i];

		m->slots[i].value = 0;
		if (s.value)
			*place(m, keymap_key(&s)) = s;
	}
}

/* Each slot of a table of twice the size belongs where it was, or as far behind that as the table was
 * long. Taken in the order in which they were probed, none meets one that is still to move; so those
 * that went round the end, before the first free slot, are set aside for last. */
static int grow(struct keymap *m)
{
	size_t old = m->cap, n = 0;
	scoped(freep) struct keymap_slot *around = NULL;

	while (n < old && m->slots[n].value)
		n++;
	around = reallocarray(NULL, n + 1, sizeof(*around));
	if (!around || make_room(m, old ? old * 2 : KEYMAP_FIRST) < 0)
		return -ENOMEM;
	m->cap = old ? old * 2 : KEYMAP_FIRST;
	for (size_t i = 0; i < n; i++) {
		around[i] = m->slots[i];
		m->slots[i].value = 0;
	}
	move_slots(m, n, old);
	for (size_t i = 0; i < n; i++)
		*place(m, keymap_key(&around[i])) = around[i];
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
