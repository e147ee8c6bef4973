/*
 * Nodes, found by (parent, frame), and rows, found by node and what else tells them apart.
 *
 * Where a program has no frame pointers, most of a recording's addresses are met in one place
 * only, most nodes have one child and most leaves one row. So the outermost callers, which may
 * be millions, are found by their frame, which knows the first owner's; any other node is known to its
 * parent as long as it is the only child, and only else stands in a hash table; so are rows. What is
 * new was made a moment ago and lies in the cache, where a place in a table of millions does not.
 */
#include "profile/profile.h"

#include <errno.h>

/* ---- nodes ---- */

static uint32_t node_find(const struct tacho_profile *p, uint32_t parent, uint32_t frame)
{
	const struct node_link *link = &p->links.v[parent];

	if (link->child == SEVERAL)
		return keymap_get(&p->children, key_pair(parent, frame));
	return link->child && link->frame == frame ? link->child : KEYMAP_NONE;
}

/* To its parent, or, if that has one already, both into the hash table. */
static int node_file(struct tacho_profile *p, uint32_t parent, uint32_t frame, uint32_t id)
{
	struct node_link *link = &p->links.v[parent];

	if (!link->child) {
		link->child = id;
		link->frame = frame;
		return 0;
	}
	if (link->child != SEVERAL &&
	    keymap_put(&p->children, key_pair(parent, link->frame), link->child) < 0)
		return -ENOMEM;
	link->child = SEVERAL;
	return keymap_put(&p->children, key_pair(parent, frame), id);
}

/* Known to nobody yet. */
static uint32_t node_make(struct tacho_profile *p, uint32_t parent, uint32_t frame)
{
	struct tacho_profile_node *n = vec_next(&p->nodes);
	struct node_link *link = n ? vec_next(&p->links) : NULL;

	if (!link) {
		p->nodes.n -= n != NULL;
		return KEYMAP_NONE;
	}
	*n = (struct tacho_profile_node){ parent, frame };
	*link = (struct node_link){ 0 };
	if (p->filter.by_parent) {
		uint8_t *has = vec_add(&p->node_parent);

		if (!has) {
			p->nodes.n--;
			p->links.n--;
			return KEYMAP_NONE;
		}
		*has = p->node_parent.v[parent] || (p->frame_flags.v[frame] & FRAME_PARENT);
	}
	return (uint32_t)(p->nodes.n - 1);
}

static uint32_t node_new(struct tacho_profile *p, uint32_t parent, uint32_t frame)
{
	uint32_t id = node_make(p, parent, frame);

	return id == KEYMAP_NONE || node_file(p, parent, frame, id) < 0 ? KEYMAP_NONE : id;
}

uint32_t profile_nodes_below(struct tacho_profile *p, uint32_t parent, const struct stack_word *words, size_t n)
{
	uint32_t id = (uint32_t)p->nodes.n;

	if (p->filter.by_parent) {
		for (size_t i = 0; i < n && parent != KEYMAP_NONE; i++)
			parent = node_new(p, parent, words[i].frame);
		return parent;
	}
	if (!vec_reserve(&p->nodes, n) || !vec_reserve(&p->links, n))
		return KEYMAP_NONE;
	for (size_t i = 0; i < n; i++, parent = id++) {
		p->links.v[parent].child = id;
		p->links.v[parent].frame = words[i].frame;
		p->nodes.v[id] = (struct tacho_profile_node){ parent, words[i].frame };
		p->links.v[id] = (struct node_link){ 0 };
	}
	p->nodes.n += n;
	p->links.n += n;
	return parent;
}

uint32_t profile_outermost(struct tacho_profile *p, uint32_t owner, uint32_t frame)
{
	struct outermost *first = &p->outermost.v[frame];
	uint32_t id;

	if (first->node && first->owner == owner)
		return first->node;
	id = first->node ? keymap_get(&p->outermost_ids, key_pair(owner, frame)) : KEYMAP_NONE;
	if (id != KEYMAP_NONE)
		return id;
	id = node_make(p, 0, frame);
	if (id == KEYMAP_NONE)
		return KEYMAP_NONE;
	if (first->node)
		return keymap_put(&p->outermost_ids, key_pair(owner, frame), id) < 0 ? KEYMAP_NONE : id;
	*first = (struct outermost){ id, owner };
	return id;
}

uint32_t profile_node(struct tacho_profile *p, uint32_t parent, uint32_t frame)
{
	uint32_t id = parent ? node_find(p, parent, frame) : profile_outermost(p, 0, frame);

	return id != KEYMAP_NONE || !parent ? id : node_new(p, parent, frame);
}

/* ---- rows ---- */

static uint64_t row_key(const struct tacho_profile_row *r)
{
	uint64_t h = key_mix(key_pair(r->thread, r->node));

	h = key_add(h, key_pair(r->event, (uint32_t)r->cpu));
	return key_mix(r->detail ? key_add(key_mix(h), r->detail) : h);
}

static bool same_row(const struct tacho_profile_row *a, const struct tacho_profile_row *b)
{
	return a->thread == b->thread && a->event == b->event && a->cpu == b->cpu && a->detail == b->detail;
}

static uint32_t row_find(const struct tacho_profile *p, const struct tacho_profile_row *like)
{
	uint32_t only = p->links.v[like->node].row;

	if (only == SEVERAL)
		return keymap_get(&p->row_ids, row_key(like));
	return only && same_row(&p->rows.v[only - 1], like) ? only - 1 : KEYMAP_NONE;
}

/* To its node, or, if that has one already, both into the hash table. */
static int row_file(struct tacho_profile *p, uint32_t id)
{
	uint32_t *row = &p->links.v[p->rows.v[id].node].row;

	if (!*row) {
		*row = id + 1;
		return 0;
	}
	if (*row != SEVERAL && keymap_put(&p->row_ids, row_key(&p->rows.v[*row - 1]), *row - 1) < 0)
		return -ENOMEM;
	*row = SEVERAL;
	return keymap_put(&p->row_ids, row_key(&p->rows.v[id]), id);
}

int profile_row(struct tacho_profile *p, const struct tacho_profile_row *add)
{
	uint32_t id = p->opts.per_time ? KEYMAP_NONE : row_find(p, add);
	struct tacho_profile_row *r;

	if (id != KEYMAP_NONE && add->samples <= UINT32_MAX - p->rows.v[id].samples) {
		p->rows.v[id].samples += add->samples;
		p->rows.v[id].period += add->period;
		return 0;
	}
	r = vec_next(&p->rows);
	if (!r)
		return -ENOMEM;
	*r = *add;
	return p->opts.per_time ? 0 : row_file(p, (uint32_t)(p->rows.n - 1));
}
