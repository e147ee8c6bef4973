/*
 * What lies below a node, and numbers that few nodes have. A recording has millions of nodes and a call
 * graph looks at few of them, so neither keeps anything per node.
 *
 * Most nodes have one child, and that is the next number. Only the others are listed: a bit tells which
 * nodes have some, and its place among these bits where their list starts. What lies below the root is not
 * listed: no call graph goes on from there, and it may be a quarter of all.
 */
#ifndef REPORT_NODE_CHILDREN_H
#define REPORT_NODE_CHILDREN_H

#include "base/vec.h"

#include <errno.h>

#include <tacho/profile.h>

struct chain_late {			/* a child that is not its parent's next number, nor below the root */
	uint32_t child, next;		/* next: in `late`, + 1; 0: none */
};

struct chain_below {
	const struct tacho_profile_node *nodes;
	size_t n_nodes;
	uint64_t *has;			/* bits: nodes that have late children */
	uint32_t *before;		/* per word of these: how many are set in all before */
	uint32_t *first;		/* per bit that is set: as chain_late.next */
	struct chain_late *late;
	size_t n_late;
};

int chain_below_init(struct chain_below *b, const struct tacho_profile_node *nodes, size_t n_nodes);
void chain_below_done(struct chain_below *b);

static inline bool chain_below_has(const struct chain_below *b, uint32_t at)
{
	return b->has[at / 64] >> at % 64 & 1;
}

/* Where the list of a node that has late children starts. */
static inline uint32_t *chain_below_list(const struct chain_below *b, uint32_t at)
{
	uint64_t lower = b->has[at / 64] & ((1ULL << at % 64) - 1);

	return &b->first[b->before[at / 64] + (uint32_t)__builtin_popcountll(lower)];
}

/* Children of a node, but the root, in ascending order, 0 behind the last: the first one, and then those of
 * `list`. */
static inline uint32_t chain_below_next(const struct chain_below *b, uint32_t *list)
{
	const struct chain_late *late;

	if (!*list)
		return 0;
	late = &b->late[*list - 1];
	*list = late->next;
	return late->child;
}

static inline uint32_t chain_below_first(const struct chain_below *b, uint32_t at, uint32_t *list)
{
	*list = chain_below_has(b, at) ? *chain_below_list(b, at) : 0;
	if (at + 1 < b->n_nodes && b->nodes[at + 1].parent == at)
		return at + 1;
	return chain_below_next(b, list);
}

/* ---- numbers ---- */

#define CHAIN_NEAR 16			/* nodes that are kept together */

struct chain_marks {
	uint32_t *block_of;		/* per so many nodes: + 1; 0: all of them have 0 */
	struct { struct chain_block *v; size_t n, cap; } blocks;
};

struct chain_block {
	uint32_t place;			/* in block_of */
	uint64_t numbers[CHAIN_NEAR];
};

int chain_marks_init(struct chain_marks *m, size_t n_nodes);
void chain_marks_done(struct chain_marks *m);
void chain_marks_clear(struct chain_marks *m);
int chain_marks_more(struct chain_marks *m, uint32_t at);	/* a block for the node; 0 or -ENOMEM */

static inline uint64_t chain_mark(const struct chain_marks *m, uint32_t at)
{
	uint32_t block = m->block_of[at / CHAIN_NEAR];

	return block ? m->blocks.v[block - 1].numbers[at % CHAIN_NEAR] : 0;
}

static inline int chain_mark_add(struct chain_marks *m, uint32_t at, uint64_t number)
{
	const uint32_t *block = &m->block_of[at / CHAIN_NEAR];

	if (!*block && chain_marks_more(m, at) < 0)
		return -ENOMEM;
	m->blocks.v[*block - 1].numbers[at % CHAIN_NEAR] += number;
	return 0;
}

#endif
