/*
 * Nodes, found by (parent, frame), and rows, found by node and what else tells them apart.
 *
 * Where a program has no frame pointers, most of a recording's addresses are met in one place
 * only, most nodes have a child or two and most leaves one row. So the outermost callers, which may
 * be millions, are found by their frame; any other node stands in the list of its parent's children
 * as long as that is short, and only else in a hash table; rows alike in the list of their node.
 * What is new was made a moment ago and lies in the cache, where a place in a table of millions
 * does not.
 */
#include "profile/profile.h"

#include <errno.h>

#define LIST_MOST 4		/* longer ones move to the hash table */

/* ---- nodes ---- */

static uint32_t node_find(const struct tacho_profile *p, uint32_t parent, uint32_t frame)
{
	uint32_t at;

	if (!parent)
		return p->outermost.v[frame] ? p->outermost.v[frame] : KEYMAP_NONE;
	at = p->links.v[parent].child;
	if (at == LIST_FULL)
		return keymap_get(&p->children, key_pair(parent, frame));
	for (; at; at = p->links.v[at].next)
		if (p->links.v[at].frame == frame)
			return at;
	return KEYMAP_NONE;
}

/* Into its parent's list, which, once it is too long, goes into the hash table. */
static int node_file(struct tacho_profile *p, uint32_t parent, uint32_t id)
{
	uint32_t *first = &p->links.v[parent].child, at = *first;
	size_t n = 0;

	for (; at && at != LIST_FULL; at = p->links.v[at].next)
		n++;
	if (*first != LIST_FULL && n < LIST_MOST) {
		p->links.v[id].next = *first;
		*first = id;
		return 0;
	}
	for (at = *first; at && at != LIST_FULL; at = p->links.v[at].next)
		if (keymap_put(&p->children, key_pair(parent, p->links.v[at].frame), at) < 0)
			return -ENOMEM;
	*first = LIST_FULL;
	return keymap_put(&p->children, key_pair(parent, p->links.v[id].frame), id);
}

uint32_t profile_node_new(struct tacho_profile *p, uint32_t parent, uint32_t frame)
{
	struct tacho_profile_node *n = vec_add(&p->nodes);
	uint32_t id = (uint32_t)(p->nodes.n - 1);
	struct node_link *link = n ? vec_add(&p->links) : NULL;

	if (!link) {
		p->nodes.n -= n != NULL;
		return KEYMAP_NONE;
	}
	*n = (struct tacho_profile_node){ parent, frame };
	link->frame = frame;
	if (p->filter.by_parent) {
		uint8_t *has = vec_add(&p->node_parent);

		if (!has)
			return KEYMAP_NONE;
		*has = p->node_parent.v[parent] || (p->frame_flags.v[frame] & FRAME_PARENT);
	}
	if (parent)
		return node_file(p, parent, id) < 0 ? KEYMAP_NONE : id;
	p->outermost.v[frame] = id;
	return id;
}

uint32_t profile_node(struct tacho_profile *p, uint32_t parent, uint32_t frame)
{
	uint32_t id = node_find(p, parent, frame);

	return id != KEYMAP_NONE ? id : profile_node_new(p, parent, frame);
}

/* ---- rows ---- */

static uint64_t row_key(const struct tacho_profile_row *r)
{
	uint64_t h = key_mix(key_pair(r->thread, r->node));

	h = key_add(h, key_pair(r->event, (uint32_t)r->cpu));
	if (r->detail)
		h = key_add(key_mix(h), r->detail);
	return key_mix(r->cgroup ? key_add(h, r->cgroup) : h);
}

static bool same_row(const struct tacho_profile_row *a, const struct tacho_profile_row *b)
{
	return a->thread == b->thread && a->event == b->event && a->cpu == b->cpu &&
	       a->cgroup == b->cgroup && a->detail == b->detail;
}

static uint32_t row_find(const struct tacho_profile *p, const struct tacho_profile_row *like)
{
	uint32_t at = p->links.v[like->node].row;

	if (at == LIST_FULL)
		return keymap_get(&p->row_ids, row_key(like));
	for (; at; at = p->row_next.v[at - 1])
		if (same_row(&p->rows.v[at - 1], like))
			return at - 1;
	return KEYMAP_NONE;
}

/* Into its node's list, which, once it is too long, goes into the hash table. */
static int row_file(struct tacho_profile *p, uint32_t id)
{
	uint32_t *first = &p->links.v[p->rows.v[id].node].row, at = *first;
	size_t n = 0;

	for (; at && at != LIST_FULL; at = p->row_next.v[at - 1])
		n++;
	if (*first != LIST_FULL && n < LIST_MOST) {
		p->row_next.v[id] = *first;
		*first = id + 1;
		return 0;
	}
	for (at = *first; at && at != LIST_FULL; at = p->row_next.v[at - 1])
		if (keymap_put(&p->row_ids, row_key(&p->rows.v[at - 1]), at - 1) < 0)
			return -ENOMEM;
	*first = LIST_FULL;
	return keymap_put(&p->row_ids, row_key(&p->rows.v[id]), id);
}

int profile_row(struct tacho_profile *p, const struct tacho_profile_row *add)
{
	uint32_t id = p->opts.per_time ? KEYMAP_NONE : row_find(p, add);
	struct tacho_profile_row *r;

	if (id != KEYMAP_NONE) {
		p->rows.v[id].samples += add->samples;
		p->rows.v[id].period += add->period;
		return 0;
	}
	r = vec_add(&p->rows);
	if (!r)
		return -ENOMEM;
	*r = *add;
	if (p->opts.per_time)
		return 0;
	if (!vec_add(&p->row_next)) {
		p->rows.n--;
		return -ENOMEM;
	}
	return row_file(p, (uint32_t)(p->rows.n - 1));
}
