/*
 * Rows -> sums per node. Parents have the smaller numbers, so one pass backwards adds up all totals.
 */
#include "report/build.h"

#include <errno.h>

#define AHEAD 32

static void row_sum(struct build *b, size_t row, size_t event)
{
	const struct tacho_profile_row *r = &b->rows[row];
	uint32_t node = node_of_row(b, row);
	struct hist_link *link = &b->links[node];
	struct hist *h = b->h;

	link->same = b->group_of[row] + 1;
	link->ends |= r->period != 0;
	b->sums[node] += r->period;
	if (event == 0 && h->counts)
		h->counts[node].self += r->samples;
	if (h->node_latency)
		h->node_latency[node].self += latency_of(h, r);
}

static void twice_add_up(const struct hist *h, struct hist_twice *v)
{
	for (size_t i = h->n_nodes; v && i-- > 1;) {
		v[i].total += v[i].self;
		v[h->nodes[i].parent].total += v[i].total;
	}
}

/* Neighbours mostly belong to one group. Those of a group come in the order of their numbers, for the
 * greatest are added first. */
static struct stretch *stretch_add(struct build *b, uint32_t group, uint32_t end)
{
	struct stretch *s = arena_alloc(&b->arena, sizeof(*s));

	if (!s)
		return NULL;
	*s = (struct stretch){ .first = 1, .end = end, .next = b->stretches[group] };
	return b->stretches[group] = s;
}

/* A node's sum is complete once all with greater numbers are done. */
static int nodes_add_up(struct build *b)
{
	const struct hist *h = b->h;
	const struct tacho_profile_node *nodes = h->nodes;
	struct hist_link *links = b->links;
	struct stretch *stretch = NULL;
	uint32_t group = 0;		/* + 1; 0: no sample passes */

	for (uint32_t i = (uint32_t)b->h->n_nodes; i-- > 1;) {
		struct hist_link *link = &links[i], *above = &links[nodes[i].parent];

		if (i > AHEAD) {
			__builtin_prefetch(&links[nodes[i - AHEAD].parent]);
			__builtin_prefetch(&b->sums[nodes[i - AHEAD].parent]);
			__builtin_prefetch(&h->class_of[nodes[i - AHEAD].frame]);
		}
		if (link->same != group) {
			if (group)
				stretch->first = i + 1;
			group = link->same;
			stretch = group ? stretch_add(b, group - 1, i + 1) : NULL;
			if (group && !stretch)
				return -ENOMEM;
		}
		if (!group)
			continue;
		link->same = h->class_of[nodes[i].frame];
		above->same = group;
		above->height = max_of(above->height + 0u, link->height + 1u) & HIST_ENTRY_MAX;
		b->sums[nodes[i].parent] += b->sums[i];
	}
	return 0;
}

int sums_make(struct build *b, size_t event)
{
	struct hist *h = b->h;

	b->sums = event ? b->other_sums : h->sums;
	b->links = event ? b->other_links : h->links;
	if (event) {
		memset(b->sums, 0, h->n_nodes * sizeof(*b->sums));
		memset(b->links, 0, h->n_nodes * sizeof(*b->links));
	}
	if (event && h->node_latency)
		memset(h->node_latency, 0, h->n_nodes * sizeof(*h->node_latency));
	for (size_t i = 0; i < b->n_rows; i++)
		if (b->event_of[b->rows[i].event] == event)
			row_sum(b, i, event);
	if (event == 0)
		twice_add_up(h, h->counts);
	twice_add_up(h, h->node_latency);
	memset(b->stretches, 0, h->groups.n * sizeof(struct stretch *));
	return nodes_add_up(b);
}
