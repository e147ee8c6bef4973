/*
 * Rows -> sums per node. Parents have smaller numbers than their children, so one pass backwards adds up all
 * sums, and finds the group and the height of each node.
 */
#include "report/build.h"

#include <errno.h>

#include "base/large_memory.h"

#define AHEAD 32

static void row_add(struct build *b, size_t row, size_t event)
{
	const struct tacho_profile_row *from = &b->rows[row];
	uint32_t node = node_of_row(b, row);
	struct report *r = b->r;

	b->group_of_node[node] = b->group_of[row] + 1;
	b->nodes->flags[node] |= from->period ? NODE_ENDS : 0;
	b->nodes->sums[node] += from->period;
	if (event == 0 && r->node_samples)
		r->node_samples[node].self += from->samples;
	if (r->node_latency)
		r->node_latency[node].self += latency_of(r, from);
}

static void add_up_totals(const struct report *r, struct node_total *v)
{
	for (size_t i = r->n_nodes; v && i-- > 1;) {
		v[i].total += v[i].self;
		v[r->nodes[i].parent].total += v[i].total;
	}
}

/* Neighbours are mostly of one group. A group's ranges end up in ascending order: the last one is added first. */
static struct node_range *range_add(struct build *b, uint32_t group, uint32_t end)
{
	struct node_range *s = arena_alloc(&b->arena, sizeof(*s));

	if (!s)
		return NULL;
	*s = (struct node_range){ .first = 1, .end = end, .next = b->ranges[group] };
	return b->ranges[group] = s;
}

/* A node's sum is complete when all nodes with greater numbers are done. */
static int add_up_nodes(struct build *b)
{
	const struct report *r = b->r;
	const struct tacho_profile_node *nodes = r->nodes;
	uint32_t *group_of_node = b->group_of_node, *height = b->height;
	uint64_t *sums = b->nodes->sums;
	uint8_t *flags = b->nodes->flags;
	struct node_range *range = NULL;
	uint32_t group = 0;		/* + 1; 0: no sample passes */

	for (uint32_t i = (uint32_t)r->n_nodes; i-- > 1;) {
		uint32_t parent = nodes[i].parent;

		if (i > AHEAD) {
			uint32_t later = nodes[i - AHEAD].parent;

			__builtin_prefetch(&group_of_node[later]);
			__builtin_prefetch(&sums[later]);
			__builtin_prefetch(&height[later]);
			__builtin_prefetch(&flags[later]);
		}
		if (group_of_node[i] != group) {
			if (group)
				range->first = i + 1;
			group = group_of_node[i];
			range = group ? range_add(b, group - 1, i + 1) : NULL;
			if (group && !range)
				return -ENOMEM;
		}
		if (!group)
			continue;
		group_of_node[parent] = group;
		flags[parent] |= NODE_GOES_ON;
		height[parent] = max_of(height[parent], height[i] + 1);
		sums[parent] += sums[i];
	}
	return 0;
}

static int clear_arrays(struct build *b, size_t event)
{
	struct report *r = b->r;

	b->group_of_node = large_alloc_zeroed(r->n_nodes * sizeof(*b->group_of_node));
	if (!b->group_of_node)
		return -ENOMEM;
	b->nodes = event ? &b->others : &b->first;
	memset(b->height, 0, r->n_nodes * sizeof(*b->height));
	memset(b->ranges, 0, r->groups.n * sizeof(struct node_range *));
	if (event) {
		memset(b->nodes->sums, 0, r->n_nodes * sizeof(*b->nodes->sums));
		memset(b->nodes->flags, 0, r->n_nodes);
	}
	if (event && r->node_latency)
		memset(r->node_latency, 0, r->n_nodes * sizeof(*r->node_latency));
	return 0;
}

int sums_make(struct build *b, size_t event)
{
	struct report *r = b->r;
	int err = clear_arrays(b, event);

	if (err < 0)
		return err;
	for (size_t i = 0; i < b->n_rows; i++)
		if (b->event_of[b->rows[i].event] == event)
			row_add(b, i, event);
	if (event == 0)
		add_up_totals(r, r->node_samples);
	add_up_totals(r, r->node_latency);
	err = add_up_nodes(b);
	large_free(b->group_of_node);
	b->group_of_node = NULL;
	return err;
}
