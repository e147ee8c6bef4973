/*
 * Finds and adds nodes and rows; see trie.h for where they are looked up.
 */
#include "profile/trie.h"

#include "profile/stacks.h"

#include <errno.h>

/* ---- nodes ---- */

static uint32_t node_find(const struct tacho_profile *p, uint32_t parent, uint32_t frame)
{
	const struct node_link *link = &p->links.v[parent];

	if (link->child == NODE_SEVERAL)
		return keymap_get(&p->child_ids, key_pair(parent, frame));
	return link->child && link->frame == frame ? link->child : KEYMAP_NONE;
}

/* Stores the node in its parent's link; if the link already has a child, stores both in the hash table. */
static int index_node(struct tacho_profile *p, uint32_t parent, uint32_t frame, uint32_t id)
{
	struct node_link *link = &p->links.v[parent];

	if (!link->child) {
		link->child = id;
		link->frame = frame;
		return 0;
	}
	if (link->child != NODE_SEVERAL &&
	    keymap_put(&p->child_ids, key_pair(parent, link->frame), link->child) < 0)
		return -ENOMEM;
	link->child = NODE_SEVERAL;
	return keymap_put(&p->child_ids, key_pair(parent, frame), id);
}

/* Adds a node without indexing it. */
static uint32_t append_node(struct tacho_profile *p, uint32_t parent, uint32_t frame)
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
		uint8_t *has = vec_add(&p->node_has_parent_match);

		if (!has) {
			p->nodes.n--;
			p->links.n--;
			return KEYMAP_NONE;
		}
		*has = p->node_has_parent_match.v[parent] || (p->frame_flags.v[frame] & FRAME_PARENT);
	}
	return (uint32_t)(p->nodes.n - 1);
}

static uint32_t node_new(struct tacho_profile *p, uint32_t parent, uint32_t frame)
{
	uint32_t id = append_node(p, parent, frame);

	return id == KEYMAP_NONE || index_node(p, parent, frame, id) < 0 ? KEYMAP_NONE : id;
}

uint32_t profile_add_chain(struct tacho_profile *p, uint32_t parent, const struct chain_entry *entries, size_t n)
{
	uint32_t id = (uint32_t)p->nodes.n;

	if (p->filter.by_parent) {
		for (size_t i = 0; i < n && parent != KEYMAP_NONE; i++)
			parent = node_new(p, parent, entries[i].frame);
		return parent;
	}
	if (!vec_reserve(&p->nodes, n) || !vec_reserve(&p->links, n))
		return KEYMAP_NONE;
	for (size_t i = 0; i < n; i++, parent = id++) {
		p->links.v[parent].child = id;
		p->links.v[parent].frame = entries[i].frame;
		p->nodes.v[id] = (struct tacho_profile_node){ parent, entries[i].frame };
		p->links.v[id] = (struct node_link){ 0 };
	}
	p->nodes.n += n;
	p->links.n += n;
	return parent;
}

uint32_t profile_intern_outermost(struct tacho_profile *p, uint32_t owner, uint32_t frame)
{
	struct outermost_node *first = &p->outermost.v[frame];
	uint32_t id;

	if (first->node && first->owner == owner)
		return first->node;
	id = first->node ? keymap_get(&p->outermost_ids, key_pair(owner, frame)) : KEYMAP_NONE;
	if (id != KEYMAP_NONE)
		return id;
	id = append_node(p, 0, frame);
	if (id == KEYMAP_NONE)
		return KEYMAP_NONE;
	if (first->node)
		return keymap_put(&p->outermost_ids, key_pair(owner, frame), id) < 0 ? KEYMAP_NONE : id;
	*first = (struct outermost_node){ id, owner };
	return id;
}

uint32_t profile_intern_node(struct tacho_profile *p, uint32_t parent, uint32_t frame)
{
	uint32_t id = parent ? node_find(p, parent, frame) : profile_intern_outermost(p, 0, frame);

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

uint32_t profile_find_row(const struct tacho_profile *p, const struct tacho_profile_row *desc)
{
	uint32_t only = p->links.v[desc->node].row;

	if (only == NODE_SEVERAL)
		return keymap_get(&p->row_ids, row_key(desc));
	return only && same_row(&p->rows.v[only - 1], desc) ? only - 1 : KEYMAP_NONE;
}

/* Stores the row in its node's link; if the link already has a row, stores both in the hash table. */
static int index_row(struct tacho_profile *p, uint32_t id)
{
	uint32_t *row = &p->links.v[p->rows.v[id].node].row;

	if (!*row) {
		*row = id + 1;
		return 0;
	}
	if (*row != NODE_SEVERAL && keymap_put(&p->row_ids, row_key(&p->rows.v[*row - 1]), *row - 1) < 0)
		return -ENOMEM;
	*row = NODE_SEVERAL;
	return keymap_put(&p->row_ids, row_key(&p->rows.v[id]), id);
}

int profile_add_row(struct tacho_profile *p, const struct tacho_profile_row *add)
{
	uint32_t id = p->opts.per_time ? KEYMAP_NONE : profile_find_row(p, add);
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
	return p->opts.per_time ? 0 : index_row(p, (uint32_t)(p->rows.n - 1));
}
