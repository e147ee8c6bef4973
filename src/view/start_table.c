/*
 * See start_table.h.
 */
#include "view/start_table.h"

#include <string.h>

#include "base/vec.h"

struct start_entry {
	uint64_t key[2];
	struct view_start start;
	uint32_t next;			/* 1 + index of the next entry of the chain, or of the next removed one */
};

void start_table_done(struct start_table *t)
{
	vec_done(t);
	free(t->heads);
	*t = (struct start_table){ 0 };
}

static size_t head_of(const struct start_table *t, const uint64_t key[2])
{
	return (size_t)((key[0] * 0x9e3779b97f4a7c15u + key[1] * 0xc2b2ae3d27d4eb4fu) >> 32) & (t->n_heads - 1);
}

/* The link that refers to the entry; NULL: there is none. */
static uint32_t *find_link(const struct start_table *t, const uint64_t key[2])
{
	uint32_t *link = t->n_heads ? &t->heads[head_of(t, key)] : NULL;

	while (link && *link) {
		struct start_entry *e = &t->v[*link - 1];

		if (e->key[0] == key[0] && e->key[1] == key[1])
			return link;
		link = &e->next;
	}
	return NULL;
}

struct view_start *start_table_find(const struct start_table *t, const uint64_t key[2])
{
	const uint32_t *link = find_link(t, key);

	return link ? &t->v[*link - 1].start : NULL;
}

/* Doubles the chains. Removed entries are not in any. */
static bool grow_heads(struct start_table *t)
{
	size_t old_n = t->n_heads, n = old_n ? old_n * 2 : 256;
	uint32_t *old = t->heads, *heads = calloc(n, sizeof(*heads));

	if (!heads)
		return false;
	t->heads = heads;
	t->n_heads = n;
	for (size_t i = 0; i < old_n; i++)
		for (uint32_t at = old[i], next; at; at = next) {
			struct start_entry *e = &t->v[at - 1];
			uint32_t *head = &heads[head_of(t, e->key)];

			next = e->next;
			e->next = *head;
			*head = at;
		}
	free(old);
	return true;
}

struct view_start *start_table_add(struct start_table *t, const uint64_t key[2])
{
	uint32_t at = t->free, *head;
	struct start_entry *e;

	if (t->n >= t->n_heads && !grow_heads(t))
		return NULL;
	if (at) {
		t->free = t->v[at - 1].next;
	} else {
		if (!vec_add(t))
			return NULL;
		at = (uint32_t)t->n;
	}
	e = &t->v[at - 1];
	head = &t->heads[head_of(t, key)];
	*e = (struct start_entry){ .key = { key[0], key[1] }, .next = *head };
	*head = at;
	return &e->start;
}

void start_table_remove(struct start_table *t, const uint64_t key[2])
{
	uint32_t *link = find_link(t, key), at;

	if (!link)
		return;
	at = *link;
	*link = t->v[at - 1].next;
	t->v[at - 1].next = t->free;
	t->free = at;
}
