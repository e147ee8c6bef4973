/*
 * The nodes that the groups' stacks go through. Each must belong to one group, so that it has one
 * sum. The profile's own do where there is one group, and where groups are commands and the
 * profile was made with `split_comms`. Else each group gets a copy of what its rows use.
 */
#include "base/large_memory.h"
#include "report/build.h"

#include <errno.h>

struct copying {
	struct build *b;
	const struct tacho_profile_node *from;
	uint32_t *copied;		/* per node of the profile: its last copy; the group's own where that
					 * is not before `base` */
	struct { uint32_t *v; size_t n, cap; } path;	/* nodes on the way up */
	uint32_t base;
};

static void copying_done(struct copying *c)
{
	free(c->copied);
	vec_done(&c->path);
}

static int own_add(struct hist *h, uint32_t parent, uint32_t frame, uint32_t *out)
{
	struct tacho_profile_node *n = vec_next(&h->own);

	if (!n)
		return -ENOMEM;
	*n = (struct tacho_profile_node){ parent, frame };
	*out = (uint32_t)(h->own.n - 1);
	return 0;
}

/* The copy of a node, with all above it. */
static int node_copy(struct copying *c, uint32_t node, uint32_t *out)
{
	for (c->path.n = 0; node && c->copied[node] < c->base; node = c->from[node].parent) {
		uint32_t *up = vec_next(&c->path);

		if (!up)
			return -ENOMEM;
		*up = node;
	}
	*out = node ? c->copied[node] : 0;
	while (c->path.n) {
		uint32_t from = c->path.v[--c->path.n];

		if (own_add(c->b->h, *out, c->from[from].frame, out) < 0)
			return -ENOMEM;
		c->copied[from] = *out;
	}
	return 0;
}

static int copy_all(struct copying *c)
{
	struct build *b = c->b;
	uint32_t root;
	size_t at = 0;

	if (own_add(b->h, 0, HIST_NONE, &root) < 0)
		return -ENOMEM;
	for (size_t g = 0; g < b->h->groups.n; g++) {
		c->base = (uint32_t)b->h->own.n;
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
	scoped(copying_done) struct copying c = { .b = b, .from = b->h->nodes };

	c.copied = calloc(b->h->n_nodes + 1, sizeof(*c.copied));
	b->node_of = reallocarray(NULL, b->n_rows + 1, sizeof(*b->node_of));
	if (!c.copied || !b->node_of || rows_sort(b) < 0 || copy_all(&c) < 0)
		return -ENOMEM;
	b->h->nodes = b->h->own.v;
	b->h->n_nodes = b->h->own.n;
	return 0;
}

/* Whether each of the profile's nodes belongs to one group. */
static bool are_apart(const struct build *b)
{
	const struct hist_opts *o = b->h->opts;

	for (size_t i = 0; i < o->n_keys; i++)
		if (o->keys[i] >= COL_FIRST_KEY && o->keys[i] < COL_FIRST_OF_FRAME &&
		    !(o->keys[i] == COL_COMM && o->split_comms))
			return false;
	return true;
}

int nodes_make(struct build *b)
{
	struct hist *h = b->h;

	h->nodes = tacho_profile_nodes(h->profile);
	h->n_nodes = tacho_profile_n_nodes(h->profile);
	if ((!are_apart(b) && nodes_copy(b) < 0) || h->n_nodes > HIST_ENTRY_MAX)
		return -ENOMEM;
	if (!h->opts->chains)
		return 0;
	h->sums = large_alloc_zeroed(h->n_nodes * sizeof(*h->sums));
	h->links = large_alloc_zeroed(h->n_nodes * sizeof(*h->links));
	return h->sums && h->links ? 0 : -ENOMEM;
}
