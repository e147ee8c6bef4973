/*
 * Stacks from their leaf on. Turned around, a trie shares far less, and all of it would be many
 * times the size of the profile. So the tree is made a level at a time: the stacks of a node are
 * sorted by their next frame, each group becomes a child if it is large enough to be seen, and
 * only those are followed.
 *
 *	node = stacks [from, to)   --sort by frame-->   child = [from, a)  child = [a, to)
 */
#include "output/tree.h"

#include <errno.h>

struct reverse_stack {
	uint32_t node;		/* of the trie: the frame that comes next; 0: only the comm is left */
	uint32_t comm;
	uint64_t key;
	uint64_t weight;
};

struct reverse_group {
	uint32_t at;		/* its node in the tree */
	size_t from, to;
};

struct turner {
	struct call_tree *tree;
	const struct trie *trie;
	struct reverse_stack *stacks;
	uint64_t least;
	struct { struct reverse_group *v; size_t n, cap; } todo;
};

static int by_key(const void *pa, const void *pb)
{
	const struct reverse_stack *a = pa, *b = pb;

	return a->key < b->key ? -1 : a->key > b->key;
}

static uint64_t next_key(const struct turner *t, const struct reverse_stack *s)
{
	return s->node ? t->trie->nodes[s->node].frame : (uint64_t)1 << 32 | s->comm;
}

/* A group of stacks with the same next frame becomes a child of `parent`. */
static int add_group(struct turner *t, uint32_t parent, size_t from, size_t to)
{
	struct reverse_stack *first = &t->stacks[from];
	bool ends = first->node == 0;
	uint64_t weight = 0;
	struct reverse_group *part;
	uint32_t at;

	for (size_t i = from; i < to; i++)
		weight += t->stacks[i].weight;
	if (weight < t->least) {
		t->tree->v[parent].self += weight;	/* part of the whole, though not shown */
		return 0;
	}
	at = tree_add(t->tree, parent, ends ? TREE_NO_FRAME : t->trie->nodes[first->node].frame,
		      first->comm);
	if (!at)
		return -ENOMEM;
	if (ends) {
		t->tree->v[at].self = weight;
		return 0;
	}
	for (size_t i = from; i < to; i++)
		t->stacks[i].node = t->trie->nodes[t->stacks[i].node].parent;
	part = vec_add(&t->todo);
	if (!part)
		return -ENOMEM;
	*part = (struct reverse_group){ at, from, to };
	return 0;
}

static int split(struct turner *t, struct reverse_group part)
{
	size_t from = part.from;

	for (size_t i = part.from; i < part.to; i++)
		t->stacks[i].key = next_key(t, &t->stacks[i]);
	qsort(t->stacks + part.from, part.to - part.from, sizeof(*t->stacks), by_key);
	for (size_t i = part.from + 1; i <= part.to; i++) {
		int err;

		if (i < part.to && t->stacks[i].key == t->stacks[from].key)
			continue;
		err = add_group(t, part.at, from, i);
		if (err < 0)
			return err;
		from = i;
	}
	return 0;
}

int add_reverse(struct call_tree *tree, const struct trie *trie, const struct output *o, double min_share)
{
	const struct tacho_profile_row *rows = tacho_profile_rows(o->p);
	size_t n_rows = tacho_profile_n_rows(o->p), n = 0;
	struct turner t = { .tree = tree, .trie = trie };
	uint64_t total = 0;
	int err = 0;

	t.stacks = calloc(n_rows + 1, sizeof(*t.stacks));
	if (!t.stacks)
		return -ENOMEM;
	for (size_t i = 0; i < n_rows; i++) {
		if (rows[i].event != o->event)
			continue;
		t.stacks[n] = (struct reverse_stack){ trie->fold[rows[i].node],
					      tree->comms.of_thread[rows[i].thread], 0,
					      row_weight(o, &rows[i]) };
		total += t.stacks[n++].weight;
	}
	t.least = (uint64_t)(min_share * (double)total);
	if (n)
		err = split(&t, (struct reverse_group){ 0, 0, n });
	while (!err && t.todo.n)
		err = split(&t, t.todo.v[--t.todo.n]);
	vec_done(&t.todo);
	free(t.stacks);
	return err;
}
