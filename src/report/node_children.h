/*
 * The children of nodes, and numbers of a few nodes. A recording has millions of nodes and a call graph looks at
 * few of them, so neither has an array with an element per node.
 *
 * Most nodes have one child, and its number is the next one. All other children are listed: a bit tells which nodes
 * have such children, and the rank of that bit among the bits that are set is the index of the list. Children
 * of the root are not listed: no call graph goes on from there, and they may be a quarter of all nodes.
 */
#ifndef REPORT_NODE_CHILDREN_H
#define REPORT_NODE_CHILDREN_H

#include "base/vec.h"

#include <errno.h>

#include <tacho/profile.h>

struct listed_child {			/* neither its parent's next number nor a child of the root */
	uint32_t child, next;		/* next: index in `listed`, + 1; 0: none */
};

struct node_children {
	const struct tacho_profile_node *nodes;
	size_t n_nodes;
	uint64_t *has_list;		/* bits, per node */
	uint32_t *bits_before;		/* per word of has_list: how many bits are set in all words before */
	uint32_t *first;		/* per bit that is set: as listed_child.next */
	struct listed_child *listed;
	size_t n_listed;
};

int node_children_init(struct node_children *c, const struct tacho_profile_node *nodes, size_t n_nodes);
void node_children_done(struct node_children *c);

static inline bool node_has_list(const struct node_children *c, uint32_t node)
{
	return c->has_list[node / 64] >> node % 64 & 1;
}

/* Where the list of a node that has one starts. */
static inline uint32_t *node_list_head(const struct node_children *c, uint32_t node)
{
	uint64_t lower = c->has_list[node / 64] & ((1ULL << node % 64) - 1);

	return &c->first[c->bits_before[node / 64] + (uint32_t)__builtin_popcountll(lower)];
}

/* The children of a node other than the root, in ascending order: the first one, which sets *list, then the next
 * ones. 0: there are no more. */
static inline uint32_t node_children_next(const struct node_children *c, uint32_t *list)
{
	const struct listed_child *child;

	if (!*list)
		return 0;
	child = &c->listed[*list - 1];
	*list = child->next;
	return child->child;
}

static inline uint32_t node_children_first(const struct node_children *c, uint32_t node, uint32_t *list)
{
	*list = node_has_list(c, node) ? *node_list_head(c, node) : 0;
	if (node + 1 < c->n_nodes && c->nodes[node + 1].parent == node)
		return node + 1;
	return node_children_next(c, list);
}

/* ---- a number per node, 0 for most ---- */

#define BLOCK_NODES 16

struct node_numbers {
	uint32_t *block_of;		/* per BLOCK_NODES nodes: index in `blocks`, + 1; 0: all are 0 */
	struct { struct number_block *v; size_t n, cap; } blocks;
};

struct number_block {
	uint32_t index;			/* in block_of */
	uint64_t numbers[BLOCK_NODES];
};

int node_numbers_init(struct node_numbers *m, size_t n_nodes);
void node_numbers_done(struct node_numbers *m);
void node_numbers_clear(struct node_numbers *m);
int node_numbers_add_block(struct node_numbers *m, uint32_t node);	/* 0 or -ENOMEM */

static inline uint64_t node_number(const struct node_numbers *m, uint32_t node)
{
	uint32_t block = m->block_of[node / BLOCK_NODES];

	return block ? m->blocks.v[block - 1].numbers[node % BLOCK_NODES] : 0;
}

static inline int node_number_add(struct node_numbers *m, uint32_t node, uint64_t number)
{
	const uint32_t *block = &m->block_of[node / BLOCK_NODES];

	if (!*block && node_numbers_add_block(m, node) < 0)
		return -ENOMEM;
	m->blocks.v[*block - 1].numbers[node % BLOCK_NODES] += number;
	return 0;
}

#endif
