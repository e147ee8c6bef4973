/*
 * The nodes that the groups' stacks go through. Each node must belong to one group, so that one sum per node is
 * enough. The profile's nodes do if there is one group, or if groups are commands and the profile was made
 * with `split_comms`. Otherwise each group gets copies of the nodes that its rows use.
 */
#include "report/build.h"

#include <errno.h>

#include "base/large_memory.h"

struct node_copier {
	struct build *b;
	const struct tacho_profile_node *from;
	uint32_t *copies;		/* per node of the profile: its last copy, which is of the current group if it
					 * is not less than `base` */
	struct { uint32_t *v; size_t n, cap; } path;	/* nodes on the way up */
	uint32_t base;			/* nodes when the group was begun */
};

static void node_copier_done(struct node_copier *c)
{
	free(c->copies);
	vec_done(&c->path);
}

static int node_add(struct report *r, uint32_t parent, uint32_t frame, uint32_t *out)
{
	struct tacho_profile_node *n = vec_next(&r->copied_nodes);

	if (!n)
		return -ENOMEM;
	*n = (struct tacho_profile_node){ parent, frame };
	*out = (uint32_t)(r->copied_nodes.n - 1);
	return 0;
}

/* The copy of a node; all nodes above it are copied first. */
static int node_copy(struct node_copier *c, uint32_t node, uint32_t *out)
{
	for (c->path.n = 0; node && c->copies[node] < c->base; node = c->from[node].parent) {
		uint32_t *up = vec_next(&c->path);

		if (!up)
			return -ENOMEM;
		*up = node;
	}
	*out = node ? c->copies[node] : 0;
	while (c->path.n) {
		uint32_t from = c->path.v[--c->path.n];

		if (node_add(c->b->r, *out, c->from[from].frame, out) < 0)
			return -ENOMEM;
		c->copies[from] = *out;
	}
	return 0;
}

static int copy_groups(struct node_copier *c)
{
	struct build *b = c->b;
	uint32_t root;
	size_t at = 0;

	if (node_add(b->r, 0, NONE, &root) < 0)
		return -ENOMEM;
	for (size_t g = 0; g < b->r->groups.n; g++) {
		c->base = (uint32_t)b->r->copied_nodes.n;
		for (; at < b->group_end[g]; at++) {
			uint32_t row = b->sorted[at];

			if (node_copy(c, b->rows[row].node, &b->node_of[row]) < 0)
				return -ENOMEM;
		}
	}
	return 0;
}

static int nodes_copy(struct build *b)
{
	struct report *r = b->r;
	scoped(node_copier_done) struct node_copier c = { .b = b, .from = r->nodes };

	c.copies = calloc(r->n_nodes + 1, sizeof(*c.copies));
	b->node_of = reallocarray(NULL, b->n_rows + 1, sizeof(*b->node_of));
	if (!c.copies || !b->node_of || rows_sort(b) < 0 || copy_groups(&c) < 0)
		return -ENOMEM;
	r->nodes = r->copied_nodes.v;
	r->n_nodes = r->copied_nodes.n;
	return 0;
}

/* Whether each of the profile's nodes belongs to one group. */
static bool are_nodes_of_one_group(const struct report *r)
{
	for (size_t i = 0; i < r->opts.n_keys; i++) {
		const struct column *c = key_at(r, i);

		if (is_row_key(c) && !(c->pub.id == TACHO_COLUMN_COMM && r->opts.split_comms))
			return false;
	}
	return true;
}

int nodes_make(struct build *b)
{
	struct report *r = b->r;

	r->nodes = tacho_profile_nodes(r->profile);
	r->n_nodes = tacho_profile_n_nodes(r->profile);
	if ((!are_nodes_of_one_group(r) && nodes_copy(b) < 0) || r->n_nodes > INT32_MAX)
		return -ENOMEM;
	if (!r->opts.callgraphs)
		return 0;
	r->node_sums = large_alloc_zeroed(r->n_nodes * sizeof(*r->node_sums));
	r->next_node = large_alloc(r->n_nodes * sizeof(*r->next_node));
	r->node_flags = large_alloc_zeroed(r->n_nodes);
	b->first = (struct node_arrays){ .sums = r->node_sums, .flags = r->node_flags };
	b->height = large_alloc(r->n_nodes * sizeof(*b->height));
	return r->node_sums && r->next_node && r->node_flags && b->height ? 0 : -ENOMEM;
}
