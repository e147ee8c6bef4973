/*
 * The call graph of an entry: its call chains, merged level by level and only as far as the caller looks.
 *
 * Callees first, levels go up: from the entry's innermost place in each stack to its callers. Callers first,
 * levels go down, and an entry has two kinds of samples: those that end in it are shown from the outermost
 * caller on, all others from the entry's outermost place on. `self_below` of a node counts the first kind;
 * the second kind is the rest of the node's total.
 */
#include <errno.h>

#include "report/columns.h"
#include "report/node_children.h"

#define AHEAD 12

struct tacho_callgraph_place {		/* a node of the profile's stacks, and what passes there */
	uint32_t node;
	uint32_t of_self : 1;		/* counts samples that end in the entry */
	uint32_t merged : 31;		/* into which node of the level, while the level is made */
	uint64_t weight;
};

struct entry_nodes {
	uint32_t first, next;
	uint32_t *v;
	size_t n, cap;
};

struct tacho_callgraph {
	struct report *r;
	bool caller;
	uint64_t min_weight;
	struct node_children children;
	struct node_numbers self_below;	/* per node, of the current entry */
	uint32_t *merged_of_frame;	/* per frame: its node in the level that is made, + 1 */
	struct { struct tacho_callgraph_node *v; size_t n, cap; } merged;	/* nodes of that level */
	struct { struct tacho_callgraph_place *v; size_t n, cap; } places;
	struct { uint32_t *v; size_t n, cap; } tops;	/* children of the root, of samples that end in the entry */
	struct entry_nodes lists[TACHO_CALLGRAPH_AHEAD], *list;	/* list: of the current entry */
	size_t n_lists;
	const struct tacho_report_entry *entry;
};

static void callgraph_freep(struct tacho_callgraph **g)
{
	tacho_callgraph_free(*g);
}

int tacho_callgraph_new(struct tacho_callgraph **out, const struct tacho_report *report)
{
	struct report *r = report_of(report);
	scoped(callgraph_freep) struct tacho_callgraph *g = calloc(1, sizeof(*g));

	if (!g)
		return -ENOMEM;
	g->r = r;
	g->caller = r->opts.caller;
	g->merged_of_frame = calloc(tacho_profile_n_frames(r->profile) + 1, sizeof(*g->merged_of_frame));
	if (!g->merged_of_frame || node_children_init(&g->children, r->nodes, r->n_nodes) < 0 ||
	    node_numbers_init(&g->self_below, r->n_nodes) < 0)
		return -ENOMEM;
	*out = take(g);
	return 0;
}

void tacho_callgraph_free(struct tacho_callgraph *g)
{
	if (!g)
		return;
	node_children_done(&g->children);
	node_numbers_done(&g->self_below);
	vec_done(&g->merged);
	vec_done(&g->places);
	vec_done(&g->tops);
	for (size_t i = 0; i < countof(g->lists); i++)
		vec_done(&g->lists[i]);
	free(g->merged_of_frame);
	free(g);
}

void tacho_callgraph_set_min_weight(struct tacho_callgraph *g, uint64_t weight)
{
	g->min_weight = weight;
}

void tacho_callgraph_level_done(struct tacho_callgraph_level *l)
{
	free(l->nodes);
	free(l->places);
	*l = (struct tacho_callgraph_level){ 0 };
}

static uint8_t flags_of(const struct tacho_callgraph *g, uint32_t node)
{
	return g->r->node_flags[node];
}

static uint32_t parent_of(const struct tacho_callgraph *g, uint32_t node)
{
	return g->r->nodes[node].parent;
}

/* The weight of samples that end at a node: periods, or how many there are. */
static uint64_t self_of(const struct tacho_callgraph *g, uint32_t at)
{
	uint64_t self = g->r->node_sums[at];
	uint32_t child, list;

	if (g->r->node_samples)
		return g->r->node_samples[at].self;
	if (!(flags_of(g, at) & NODE_ENDS))
		return 0;
	for (child = node_children_first(&g->children, at, &list); child; child = node_children_next(&g->children, &list))
		self -= g->r->node_sums[child];
	return self;
}

static uint64_t total_of(const struct tacho_callgraph *g, uint32_t at)
{
	return g->r->node_samples ? g->r->node_samples[at].total : g->r->node_sums[at];
}

/* ---- a level from its places ---- */

/* The index of the frame's node in the level that is made, or -ENOMEM. */
static int64_t merged_node(struct tacho_callgraph *g, uint32_t frame)
{
	struct tacho_callgraph_node *node;

	if (!g->merged_of_frame[frame]) {
		node = vec_next(&g->merged);
		if (!node)
			return -ENOMEM;
		*node = (struct tacho_callgraph_node){ .frame = frame };
		g->merged_of_frame[frame] = (uint32_t)g->merged.n;
	}
	return g->merged_of_frame[frame] - 1;
}

static int place_add(struct tacho_callgraph *g, uint32_t node, bool of_self, uint64_t weight)
{
	struct tacho_callgraph_place *place;
	int64_t merged;

	if (!weight)
		return 0;
	merged = merged_node(g, callgraph_frame(g->r, g->r->nodes[node].frame));
	if (merged < 0)
		return -ENOMEM;
	g->merged.v[merged].weight += weight;
	if (g->caller && !(flags_of(g, node) & NODE_GOES_ON))
		return 0;		/* there is no level below */
	place = vec_next(&g->places);
	if (!place)
		return -ENOMEM;
	*place = (struct tacho_callgraph_place){ .node = node, .of_self = of_self,
						 .merged = (uint32_t)merged & INT32_MAX, .weight = weight };
	g->merged.v[merged].n_places++;
	return 0;
}

/* As perf: frames without an object are last, before them those of the objects that were met later, in each
 * object the higher address first. */
int tacho_callgraph_compare(const struct tacho_report *r, const struct tacho_callgraph_node *a,
			    const struct tacho_callgraph_node *b)
{
	const struct tacho_profile_frame *fa = tacho_profile_frame(r->profile, a->frame);
	const struct tacho_profile_frame *fb = tacho_profile_frame(r->profile, b->frame);

	if (fa->code->object != fb->code->object)
		return fa->code->object < fb->code->object ? 1 : -1;
	if (fa->address != fb->address)
		return fa->address < fb->address ? 1 : -1;
	return (a->frame > b->frame) - (a->frame < b->frame);
}

/* Heaviest first; then the later text of a line, or by object and address. */
static int compare_nodes(const void *pa, const void *pb, void *arg)
{
	const struct tacho_callgraph_node *a = pa, *b = pb;
	const struct report *r = arg;
	int order = 0;

	if (a->weight != b->weight)
		return a->weight < b->weight ? 1 : -1;
	if (r->opts.callgraph_key == TACHO_CALLGRAPH_SRCLINE)
		order = compare_srcline_texts(r, tacho_profile_frame(r->profile, b->frame),
					      tacho_profile_frame(r->profile, a->frame));
	return order ? order : tacho_callgraph_compare(&r->pub, a, b);
}

/* Counts the nodes that weigh enough; returns how many places they have. */
static size_t count_heavy_nodes(const struct tacho_callgraph *g, struct tacho_callgraph_level *out)
{
	size_t n_places = 0;

	*out = (struct tacho_callgraph_level){ .n_all = g->merged.n };
	for (size_t i = 0; i < g->merged.n; i++) {
		const struct tacho_callgraph_node *node = &g->merged.v[i];

		out->weight += node->weight;
		if (node->weight < g->min_weight)
			continue;
		out->n++;
		n_places += node->n_places;
	}
	return n_places;
}

/* Places are stored node by node. `places` of a node in g->merged is where its next place is written. */
static void fill_level(struct tacho_callgraph *g, struct tacho_callgraph_level *out)
{
	struct tacho_callgraph_place *at = out->places;
	size_t n = 0;

	for (size_t i = 0; i < g->merged.n; i++) {
		struct tacho_callgraph_node *node = &g->merged.v[i];

		if (node->weight < g->min_weight)
			continue;
		node->places = at;
		at += node->n_places;
		out->nodes[n++] = *node;
	}
	for (size_t i = 0; i < g->places.n; i++) {
		struct tacho_callgraph_node *node = &g->merged.v[g->places.v[i].merged];

		if (node->places)
			*node->places++ = g->places.v[i];
	}
}

/* The nodes that weigh enough; of the others only number and weight count. */
static int take_level(struct tacho_callgraph *g, struct tacho_callgraph_level *out)
{
	size_t n_places = count_heavy_nodes(g, out);

	out->nodes = reallocarray(NULL, out->n + 1, sizeof(*out->nodes));
	out->places = reallocarray(NULL, n_places + 1, sizeof(*out->places));
	if (!out->nodes || !out->places) {
		tacho_callgraph_level_done(out);
		return -ENOMEM;
	}
	fill_level(g, out);
	qsort_r(out->nodes, out->n, sizeof(*out->nodes), compare_nodes, g->r);
	return 0;
}

/* After all places were added, or one of them failed. */
static int level_end(struct tacho_callgraph *g, int err, struct tacho_callgraph_level *out)
{
	if (err == 0)
		err = take_level(g, out);
	for (size_t i = 0; i < g->merged.n; i++)
		g->merged_of_frame[g->merged.v[i].frame] = 0;
	g->merged.n = g->places.n = 0;
	return err;
}

/* ---- the first level of an entry ---- */

static void node_prefetch(const struct tacho_callgraph *g, uint32_t at)
{
	__builtin_prefetch(&g->r->nodes[at]);
	__builtin_prefetch(&g->r->node_sums[at]);
	__builtin_prefetch(&g->r->node_flags[at]);
}

/* The i-th node of the current entry; nodes are scattered in memory, so a later one is prefetched. */
static uint32_t list_node(const struct tacho_callgraph *g, size_t i)
{
	if (g->list->n - i > AHEAD)
		node_prefetch(g, g->list->v[i + AHEAD]);
	return g->list->v[i];
}

/* The nearest node above that belongs to the entry; there is one. */
static uint32_t entry_node_above(const struct tacho_callgraph *g, uint32_t at)
{
	const uint32_t *class_of = g->r->class_of;

	do
		at = parent_of(g, at);
	while (class_of[g->r->nodes[at].frame] != class_of[g->entry->frame]);
	return at;
}

static int top_add(struct tacho_callgraph *g, uint32_t node)
{
	uint32_t *top = vec_next(&g->tops);

	if (!top)
		return -ENOMEM;
	*top = node;
	return 0;
}

/* Adds a node's own samples to all nodes above it; notes the outermost one when it gets its first. */
static int count_self_up(struct tacho_callgraph *g, uint32_t at)
{
	uint64_t self = self_of(g, at);
	uint32_t top = at;
	int err = 0;

	for (uint32_t up = at; up && err == 0; up = parent_of(g, up)) {
		err = node_number_add(&g->self_below, up, self);
		top = up;
	}
	return err == 0 && self && node_number(&g->self_below, top) == self ? top_add(g, top) : err;
}

static int compare_tops(const void *pa, const void *pb)
{
	uint32_t a = *(const uint32_t *)pa, b = *(const uint32_t *)pb;

	return (a < b) - (a > b);
}

/* Places of samples that end in the entry, in the order of the root's children: the last one first. */
static int add_self_places(struct tacho_callgraph *g)
{
	int err = 0;

	g->tops.n = 0;
	for (size_t i = 0; i < g->list->n && err == 0; i++) {
		uint32_t at = list_node(g, i);

		if (flags_of(g, at) & NODE_ENDS)
			err = count_self_up(g, at);
	}
	if (g->tops.n)
		qsort(g->tops.v, g->tops.n, sizeof(*g->tops.v), compare_tops);
	for (size_t i = 0; i < g->tops.n && err == 0; i++)
		err = place_add(g, g->tops.v[i], true, node_number(&g->self_below, g->tops.v[i]));
	return err;
}

static int begin_down(struct tacho_callgraph *g)
{
	int err = add_self_places(g);

	if (!g->r->opts.children)
		return err;
	for (size_t i = 0; i < g->list->n && err == 0; i++) {
		uint32_t at = list_node(g, i);

		if (!(flags_of(g, at) & NODE_NESTED))
			err = place_add(g, at, false, total_of(g, at) - node_number(&g->self_below, at));
	}
	return err;
}

/* Samples count at the entry's innermost place. Going up, `self_below` holds for each of the entry's nodes what
 * passes through another node of the entry further in. */
static int begin_up(struct tacho_callgraph *g)
{
	bool children = g->r->opts.children;
	int err = 0;

	for (size_t i = 0; i < g->list->n && children && err == 0; i++) {
		uint32_t at = list_node(g, i);

		if (flags_of(g, at) & NODE_NESTED)
			err = node_number_add(&g->self_below, entry_node_above(g, at), total_of(g, at));
	}
	for (size_t i = 0; i < g->list->n && err == 0; i++) {
		uint32_t at = list_node(g, i);
		uint64_t weight = children ? total_of(g, at) - node_number(&g->self_below, at) : self_of(g, at);

		err = place_add(g, at, false, weight);
	}
	return err;
}

/* ---- the nodes of entries ---- */

static int list_step(const struct tacho_callgraph *g, struct entry_nodes *l)
{
	uint32_t *slot = vec_next(l);

	if (!slot)
		return -ENOMEM;
	*slot = l->next;
	l->next = g->r->next_node[l->next];
	return 0;
}

/* Each step along a list waits for memory, so several lists are walked at once. */
int tacho_callgraph_prepare(struct tacho_callgraph *g,
			    const struct tacho_report_entry *const *entries, size_t n)
{
	size_t left = n = min_of(n, countof(g->lists));

	for (size_t i = 0; i < n; i++) {
		g->lists[i].first = g->lists[i].next = entries[i]->first_node;
		g->lists[i].n = 0;
	}
	g->n_lists = 0;
	while (left) {
		left = 0;
		for (size_t i = 0; i < n; i++) {
			if (g->lists[i].next == NONE)
				continue;
			if (list_step(g, &g->lists[i]) < 0)
				return -ENOMEM;
			left++;
		}
	}
	g->n_lists = n;
	return 0;
}

/* The list of the current entry, if it was not prepared now. */
static int find_list(struct tacho_callgraph *g)
{
	for (g->list = g->lists; g->list < g->lists + g->n_lists; g->list++)
		if (g->list->first == g->entry->first_node)
			return 0;
	g->list = g->lists;
	return tacho_callgraph_prepare(g, &g->entry, 1);
}

int tacho_callgraph_begin(struct tacho_callgraph *g, const struct tacho_report_entry *e,
			  struct tacho_callgraph_level *out)
{
	int err;

	g->entry = e;
	err = find_list(g);
	if (err == 0)
		err = g->caller ? begin_down(g) : begin_up(g);
	return level_end(g, err, out);
}

void tacho_callgraph_end(struct tacho_callgraph *g)
{
	node_numbers_clear(&g->self_below);
}

/* ---- the next level ---- */

static int step_down(struct tacho_callgraph *g, const struct tacho_callgraph_place *place)
{
	uint32_t at, list;
	int err = 0;

	for (at = node_children_first(&g->children, place->node, &list); at && err == 0;
	     at = node_children_next(&g->children, &list)) {
		uint64_t self = node_number(&g->self_below, at);

		err = place_add(g, at, place->of_self, place->of_self ? self : total_of(g, at) - self);
	}
	return err;
}

/* Going down, most nodes have one child, which is the next node: that one is prefetched. */
int tacho_callgraph_next(struct tacho_callgraph *g, const struct tacho_callgraph_node *from,
			 struct tacho_callgraph_level *out)
{
	int err = 0;

	for (size_t i = 0; i < from->n_places && err == 0; i++) {
		const struct tacho_callgraph_place *place = &from->places[i];
		uint32_t up = parent_of(g, place->node);

		if (from->n_places - i > AHEAD)
			node_prefetch(g, place[AHEAD].node + g->caller);
		if (g->caller)
			err = step_down(g, place);
		else if (up)
			err = place_add(g, up, false, place->weight);
	}
	return level_end(g, err, out);
}
