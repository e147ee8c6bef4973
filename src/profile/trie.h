/*
 * Stacks as a trie of nodes (parent node, frame), and the rows that count samples at a node.
 *
 * In programs without frame pointers most addresses of a recording are sampled once, most nodes have one child and most
 * leaves one row. So nodes and rows are found without a hash table where possible:
 *
 *	outermost callers	by frame: struct outermost_node, per frame; a hash table for further owners
 *	other nodes		by the parent's link while they are its only child, else in the hash table child_ids
 *	rows			by the node's link while it has one row, else in the hash table row_ids
 *
 * A new node's link was written a moment ago and is still in the CPU's cache; a slot in a table of millions is not.
 */
#ifndef PROFILE_TRIE_H
#define PROFILE_TRIE_H

#include "profile/frame.h"
#include "profile/profile.h"

#define NODE_SEVERAL UINT32_MAX

struct node_link {
	uint32_t child;			/* the only child; 0: none; NODE_SEVERAL: see child_ids */
	uint32_t frame;			/* that child's frame */
	uint32_t row;			/* the only row + 1; 0: none; NODE_SEVERAL: see row_ids */
};

struct outermost_node {			/* the first node of a frame without a caller */
	uint32_t node;			/* 0: none */
	uint32_t owner;
};

struct chain_entry;

/* The child of `parent` with that frame; KEYMAP_NONE if out of memory. */
uint32_t profile_intern_node(struct tacho_profile *p, uint32_t parent, uint32_t frame);
/* The node of a stack's outermost frame. owner: with `split_comms` the first thread of the command, else 0. */
uint32_t profile_intern_outermost(struct tacho_profile *p, uint32_t owner, uint32_t frame);
/* Adds a node per entry, each a child of the one before, below a `parent` that has no children yet. Returns the last
 * node, or KEYMAP_NONE if out of memory. */
uint32_t profile_add_chain(struct tacho_profile *p, uint32_t parent, const struct chain_entry *entries, size_t n);
/* The row that is equal to `desc` except for its counts; KEYMAP_NONE: there is none. */
uint32_t profile_find_row(const struct tacho_profile *p, const struct tacho_profile_row *desc);
/* Adds samples to the row that is equal except for its counts, or adds a new row. 0 or -ENOMEM. */
int profile_add_row(struct tacho_profile *p, const struct tacho_profile_row *add);

/* The owner of a thread's nodes. */
static inline uint32_t profile_node_owner(const struct tacho_profile *p, uint32_t thread)
{
	return p->opts.split_comms ? p->threads.v[thread].first_of_comm : 0;
}

/* The node of the function that a node's function is inlined into; the node itself if it is not inlined. */
static inline uint32_t profile_function_node(const struct tacho_profile *p, uint32_t node)
{
	while (p->nodes.v[node].parent && p->frames.v[p->nodes.v[node].frame].inlined)
		node = p->nodes.v[node].parent;
	return node;
}

/* Whether the filters of comms, tasks, objects, symbols and callers accept the row. */
static inline bool profile_row_passes(const struct tacho_profile *p, const struct tacho_profile_row *r)
{
	uint32_t frame = p->any_leaf_filtered ? p->nodes.v[profile_function_node(p, r->node)].frame : KEYMAP_NONE;

	if (p->threads.v[r->thread].filtered)
		return false;
	if (frame != KEYMAP_NONE && (p->frame_flags.v[frame] & FRAME_LEAF_FILTERED))
		return false;
	return !p->filter.by_parent || p->node_has_parent_match.v[r->node];
}

/* Prefetches for lookups that follow soon. An address outside the table is harmless: prefetches do not fault. */
static inline void profile_node_prefetch(const struct tacho_profile *p, uint32_t node)
{
	__builtin_prefetch(&p->links.v[node]);
}

static inline void profile_outermost_prefetch(const struct tacho_profile *p, uint32_t frame)
{
	__builtin_prefetch((const void *)((uintptr_t)p->outermost.v + sizeof(*p->outermost.v) * frame));
}

static inline void profile_child_prefetch(const struct tacho_profile *p, uint32_t node, uint32_t frame)
{
	if (p->links.v[node].child)
		keymap_prefetch(&p->child_ids, key_pair(node, frame));
}

/* Returns whether the node has any row. */
static inline bool profile_rows_prefetch(const struct tacho_profile *p, uint32_t node)
{
	uint32_t row = p->links.v[node].row;
	uintptr_t at = (uintptr_t)p->rows.v + sizeof(*p->rows.v) * (row == NODE_SEVERAL ? 0 : row - (row != 0));

	__builtin_prefetch((const void *)at, 1);	/* a row may span two cache lines */
	__builtin_prefetch((const void *)(at + offsetof(struct tacho_profile_row, period)), 1);
	return row != 0;
}

#endif
