/*
 * Builds the tree of stacks starting from their leaves. A complete reversed trie would be many times the size
 * of the profile, because it shares far fewer nodes. So the tree is built level by level: the stacks of a
 * node are sorted by their next frame, each group becomes a child if it is large enough to be visible, and
 * only those are split further.
 *
 *	node = stacks [from, to)   --sort by frame-->   child = [from, a)  child = [a, to)
 */
#include "output/tree.h"

#include <errno.h>

struct reverse_stack {
	uint32_t node;		/* trie node of the next frame; 0: only the comm is left */
	uint32_t comm;
	uint64_t key;
	uint64_t weight;
};

struct reverse_group {
	uint32_t node;		/* node of the tree */
	size_t from, to;
};

struct reverse_builder {
	struct call_tree *tree;
	const struct merged_trie *trie;
	struct reverse_stack *stacks;
	uint64_t min_weight;
	struct { struct reverse_group *v; size_t n, cap; } todo;
};

static int by_key(const void *pa, const void *pb)
{
	const struct reverse_stack *a = pa, *b = pb;

	return a->key < b->key ? -1 : a->key > b->key;
}

static uint64_t next_key(const struct reverse_builder *t, const struct reverse_stack *s)
{
	return s->node ? t->trie->nodes[s->node].frame : (uint64_t)1 << 32 | s->comm;
}

/* A group of stacks with the same next frame becomes a child of `parent`. */
static int add_group(struct reverse_builder *t, uint32_t parent, size_t from, size_t to)
{
	struct reverse_stack *first = &t->stacks[from];
	bool is_comm = first->node == 0;
	uint64_t weight = 0;
	struct reverse_group *group;
	uint32_t at;

	for (size_t i = from; i < to; i++)
		weight += t->stacks[i].weight;
	if (weight < t->min_weight) {
		t->tree->v[parent].self += weight;	/* omitted, but still part of the total */
		return 0;
	}
	at = tree_add(t->tree, parent, is_comm ? TREE_NO_FRAME : t->trie->nodes[first->node].frame,
		      first->comm);
	if (!at)
		return -ENOMEM;
	if (is_comm) {
		t->tree->v[at].self = weight;
		return 0;
	}
	for (size_t i = from; i < to; i++)
		t->stacks[i].node = t->trie->nodes[t->stacks[i].node].parent;
	group = vec_add(&t->todo);
	if (!group)
		return -ENOMEM;
	*group = (struct reverse_group){ at, from, to };
	return 0;
}

static int split_group(struct reverse_builder *t, struct reverse_group group)
{
	size_t from = group.from;

	for (size_t i = group.from; i < group.to; i++)
		t->stacks[i].key = next_key(t, &t->stacks[i]);
	qsort(t->stacks + group.from, group.to - group.from, sizeof(*t->stacks), by_key);
	for (size_t i = group.from + 1; i <= group.to; i++) {
		int err;

		if (i < group.to && t->stacks[i].key == t->stacks[from].key)
			continue;
		err = add_group(t, group.node, from, i);
		if (err < 0)
			return err;
		from = i;
	}
	return 0;
}

int tree_add_reverse(struct call_tree *tree, const struct merged_trie *trie, const struct output *o, double min_share)
{
	const struct tacho_profile_row *rows = tacho_profile_rows(o->p);
	size_t n_rows = tacho_profile_n_rows(o->p), n = 0;
	struct reverse_builder t = { .tree = tree, .trie = trie };
	uint64_t total = 0;
	int err = 0;

	t.stacks = calloc(n_rows + 1, sizeof(*t.stacks));
	if (!t.stacks)
		return -ENOMEM;
	for (size_t i = 0; i < n_rows; i++) {
		if (rows[i].event != o->event)
			continue;
		t.stacks[n] = (struct reverse_stack){ trie->merged[rows[i].node],
					      tree->comms.of_thread[rows[i].thread], 0,
					      row_weight(o, &rows[i]) };
		total += t.stacks[n++].weight;
	}
	t.min_weight = (uint64_t)(min_share * (double)total);
	if (n)
		err = split_group(&t, (struct reverse_group){ 0, 0, n });
	while (!err && t.todo.n)
		err = split_group(&t, t.todo.v[--t.todo.n]);
	vec_done(&t.todo);
	free(t.stacks);
	return err;
}
