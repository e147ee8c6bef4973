/*
 * Rows and nodes -> entries. Parents have smaller numbers than their children, so one pass forwards finds for each
 * class the nodes that have no node of their own class above them. Nodes that were made together are together
 * in memory, so the pass is mostly sequential.
 *
 * These branches would be unpredictable, for millions of nodes: whether a node's class is new to its group,
 * whether samples end there, whether it is the deepest. Conditions are therefore mostly computed
 * arithmetically. Each step over a chunk of nodes prefetches the scattered memory that the next step reads.
 */
#include "report/build.h"

#include <errno.h>

#include "base/large_memory.h"

#define CHUNK 128			/* nodes that are entered together */

static void build_done(struct build *b)
{
	arena_done(&b->arena);
	map_done(&b->by_values);
	vec_done(&b->entry_before);
	free(b->event_of);
	free(b->group_of_thread);
	free(b->group_of);
	free(b->sorted);
	free(b->group_end);
	free(b->node_of);
	large_free(b->group_of_node);
	large_free(b->height);
	free(b->others.sums);
	free(b->others.flags);
	free(b->ranges);
	free(b->entry_of_class);
	large_free(b->entry_of_node);
	free(b->path);
	free(b->depth_of);
	free(b->last_entry);
}

/* ---- entries ---- */

static uint32_t class_of(const struct report *r, uint32_t frame)
{
	return frame == NONE ? (uint32_t)r->n_classes - 1 : r->class_of[frame];
}

/* Extends the arrays beside the entries to the entries that were made. */
static int extend_arrays(struct build *b, uint32_t group)
{
	struct report *r = b->r;
	size_t n = r->entries.n, n_all = n * r->n_events;
	bool ok = true;

	while (ok && r->others.n < n_all - n)
		ok = vec_add(&r->others);
	for (size_t i = 0; i < r->n_value_sums; i++)
		while (ok && r->value_sums[i].sums.n < n_all)
			ok = vec_add(&r->value_sums[i].sums);
	while (ok && r->n_events > 1 && b->entry_before.n < n) {
		uint32_t *before = vec_next(&b->entry_before);

		ok = before;
		if (!ok)
			break;
		*before = b->last_entry[group];
		b->last_entry[group] = (uint32_t)b->entry_before.n;
	}
	return ok ? 0 : -ENOMEM;
}

/* v if `counts`, else 0: compilers make a branch of most other ways to write this. */
static inline uint64_t where(bool counts, uint64_t v)
{
	return v & -(uint64_t)counts;
}

static inline bool is_of_group(const struct build *b, uint32_t group, uint32_t entry)
{
	if (b->recalled)
		return entry && b->r->entries.v[entry - 1].group == group;
	return entry > b->n_before;
}

/* The index + 1 of the group's entry of that class, which is made if there is none. An entry is written in any
 * case, and counts if it is new: the caller has reserved space for it. */
static inline uint32_t entry_put(struct build *b, uint32_t group, uint32_t class_, uint32_t frame)
{
	struct report *r = b->r;
	uint32_t old = b->entry_of_class[class_];
	bool is_new = !is_of_group(b, group, old);

	r->entries.v[r->entries.n] =
		(struct tacho_report_entry){ .group = group, .frame = frame, .first_node = NONE };
	r->entries.n += is_new;
	return b->entry_of_class[class_] = (uint32_t)(where(is_new, r->entries.n) | where(!is_new, old));
}

/* The same for a single entry, with the arrays beside it. 0 without memory. */
static uint32_t entry_get(struct build *b, uint32_t group, uint32_t class_, uint32_t frame)
{
	uint32_t entry;

	if (!vec_reserve(&b->r->entries, 1))
		return 0;
	entry = entry_put(b, group, class_, frame);
	return extend_arrays(b, group) == 0 ? entry : 0;
}

static struct tacho_report_sums *sums_at(struct report *r, uint32_t entry, size_t event)
{
	return event ? &r->others.v[(entry - 1) * (r->n_events - 1) + event - 1] : &r->entries.v[entry - 1].sums;
}

/* The node whose entry gets the samples that end at `node`: as in perf, of the function that has the address, not of one that
 * is inlined there. */
static uint32_t self_node(const struct report *r, uint32_t node)
{
	if (r->has_inlines)
		while (r->nodes[node].parent && tacho_profile_frame(r->profile, r->nodes[node].frame)->inlined)
			node = r->nodes[node].parent;
	return node;
}

/* Makes the group's entries of earlier events known by class. */
static void entries_recall(struct build *b, uint32_t group)
{
	b->recalled = true;
	for (uint32_t at = b->last_entry[group]; at; at = b->entry_before.v[at - 1])
		b->entry_of_class[class_of(b->r, b->r->entries.v[at - 1].frame)] = at;
}

static int row_enter(struct build *b, uint32_t group, size_t row, size_t event)
{
	const struct tacho_profile_row *from = &b->rows[row];
	struct report *r = b->r;
	uint32_t node = self_node(r, node_of_row(b, row)), frame = node ? r->nodes[node].frame : NONE;
	uint32_t entry = entry_get(b, group, class_of(r, frame), frame);

	if (!entry)
		return -ENOMEM;
	sums_at(r, entry, event)->self += from->period;
	if (!r->opts.callgraphs || !r->opts.children)
		sums_at(r, entry, event)->children += from->period;
	for (size_t i = 0; i < r->n_value_sums; i++) {
		const struct column *c = r->value_sums[i].column;

		if (c->amount)
			r->value_sums[i].sums.v[(entry - 1) * r->n_events + event] += c->amount(c, r, from);
	}
	return 0;
}

/* ---- the path from the root ---- */

/* As long as the longest path from the root. It never gets shorter: entries of earlier events have depths on it
 * that are looked at. */
static int path_make(struct build *b)
{
	size_t n = b->height[0] + 1;

	b->depth = 0;
	if (!b->depth_of)
		b->depth_of = calloc(b->r->n_nodes, sizeof(*b->depth_of));
	if (!b->entry_of_node)
		b->entry_of_node = large_alloc(b->r->n_nodes * sizeof(*b->entry_of_node));
	if (n > b->n_path) {
		free(b->path);
		b->path = calloc(n, sizeof(*b->path));
		b->n_path = n;
	}
	return b->path && b->depth_of && b->entry_of_node ? 0 : -ENOMEM;
}

/* Whether the path goes through the node, which has that depth. */
static inline bool path_has(const struct build *b, uint32_t node, uint32_t depth)
{
	return (depth <= b->depth) & (b->path[depth].node == node);
}

/* Makes it the path to `node`: upwards as far as it is another one. Rare, so not inline. */
static __attribute__((noinline)) void path_turn(struct build *b, uint32_t node)
{
	uint32_t depth = b->depth_of[node];

	for (uint32_t at = depth; !path_has(b, node, at); at--) {
		uint32_t entry = b->entry_of_node[node];

		b->path[at] = (struct path_step){ node, entry };
		if (!(b->nodes->flags[node] & NODE_NESTED))
			b->r->entries.v[entry - 1].outermost = (uint16_t)min_of(at, (uint32_t)UINT16_MAX);
		node = b->r->nodes[node].parent;
	}
	b->depth = depth;
}

/* Appends `node`, whose parent was entered. Returns whether another node of the entry is on the path: it is if the
 * entry's outermost node is; that depth may be from an older path, which path[] tells. */
static inline bool path_add(struct build *b, uint32_t node, uint32_t entry)
{
	uint16_t *outermost = &b->r->entries.v[entry - 1].outermost;
	uint32_t parent = b->r->nodes[node].parent, depth = b->depth_of[parent];
	bool nested;

	if (!path_has(b, parent, depth))
		path_turn(b, parent);
	nested = (*outermost <= depth) & (b->path[*outermost].entry == entry);
	b->depth = b->depth_of[node] = ++depth;
	b->path[depth] = (struct path_step){ node, entry };
	*outermost = nested ? *outermost : (uint16_t)min_of(depth, (uint32_t)UINT16_MAX);
	return nested;
}

/* ---- nodes ---- */

/* The frames of the longest call chain of an entry that begins at the node: up to the root, or down. */
static uint32_t chain_depth(const struct build *b, uint32_t node, uint8_t flags)
{
	if (!b->r->opts.caller)
		return b->depth;
	return max_of(b->height[node] + 1, (uint32_t)where(flags & NODE_ENDS, b->depth));
}

/* Puts the node into the entry's list. */
static inline void entry_add_node(struct report *r, struct tacho_report_entry *e, uint32_t node,
				  uint32_t depth)
{
	r->next_node[node] = e->first_node;
	e->first_node = node;
	e->depth = (uint16_t)min_of(max_of((uint32_t)e->depth, depth), (uint32_t)UINT16_MAX);
}

/* A node's own samples are its sum without those of its children. Each child takes its sum off its parent's
 * entry if samples end there. At the root none end, or rows are counted instead. */
static void self_add(struct build *b, uint32_t node, bool ends, struct tacho_report_sums *sums,
		     size_t event)
{
	uint32_t parent = b->r->nodes[node].parent;

	if (b->r->has_inlines)
		sums = sums_at(b->r, b->entry_of_node[self_node(b->r, node)], event);
	sums->self += where(ends, b->nodes->sums[node]);
	if (b->nodes->flags[parent] & NODE_ENDS)
		sums_at(b->r, b->entry_of_node[self_node(b->r, parent)], event)->self -= b->nodes->sums[node];
}

static void latency_children_add(struct report *r, uint32_t entry, size_t event, uint64_t latency)
{
	for (size_t i = 0; i < r->n_value_sums; i++)
		if (r->value_sums[i].column->pub.id == TACHO_COLUMN_LATENCY_CHILDREN)
			r->value_sums[i].sums.v[(entry - 1) * r->n_events + event] += latency;
}

/* Adds the node to its entry, and its sum unless a node above it is of the same entry. With `plain` it is of the
 * first event and all sums come from nodes: a constant for the compiler, because nearly all are so. */
static inline __attribute__((always_inline)) void node_enter(struct build *b, uint32_t node, uint32_t entry,
							     size_t event, bool plain)
{
	struct report *r = b->r;
	struct tacho_report_sums *sums = sums_at(r, entry, event);
	uint8_t flags = b->nodes->flags[node];
	bool nested = path_add(b, node, entry);

	sums->children += where(!nested, b->nodes->sums[node]);
	if (!plain && !nested && r->node_latency)
		latency_children_add(r, entry, event, r->node_latency[node].total);
	b->entry_of_node[node] = entry;
	if (plain || !b->by_rows)
		self_add(b, node, flags & NODE_ENDS, sums, event);
	if (event == 0)
		entry_add_node(r, &r->entries.v[entry - 1], node, chain_depth(b, node, flags));
	b->nodes->flags[node] = flags | (uint8_t)where(nested, NODE_NESTED);
}

static void node_prefetch(const struct build *b, uint32_t at)
{
	__builtin_prefetch(&b->nodes->sums[at]);
	__builtin_prefetch(&b->nodes->flags[at]);
	__builtin_prefetch(&b->r->nodes[at]);
}

static int nodes_enter(struct build *b, uint32_t group, const uint32_t *at, size_t n, size_t event)
{
	struct report *r = b->r;
	uint32_t class_[CHUNK], entry[CHUNK];

	if (!vec_reserve(&r->entries, n))
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		__builtin_prefetch(&r->class_of[r->nodes[at[i]].frame]);
	for (size_t i = 0; i < n; i++) {
		class_[i] = r->class_of[r->nodes[at[i]].frame];
		__builtin_prefetch(&b->entry_of_class[class_[i]]);
	}
	for (size_t i = 0; i < n; i++) {
		uint32_t parent = r->nodes[at[i]].parent;

		entry[i] = entry_put(b, group, class_[i], r->nodes[at[i]].frame);
		__builtin_prefetch(&r->entries.v[entry[i] - 1]);
		__builtin_prefetch(&b->nodes->flags[parent]);
		__builtin_prefetch(&b->depth_of[parent]);
	}
	if (extend_arrays(b, group) < 0)
		return -ENOMEM;
	if (!event && !b->by_rows)
		for (size_t i = 0; i < n; i++)
			node_enter(b, at[i], entry[i], 0, true);
	else
		for (size_t i = 0; i < n; i++)
			node_enter(b, at[i], entry[i], event, false);
	return 0;
}

static uint32_t depth_of(const struct report *r, uint32_t node)
{
	uint32_t depth = 0;

	for (; node; node = r->nodes[node].parent)
		depth++;
	return depth;
}

/* Without `children` an entry has the nodes where its samples end. */
static int leaf_enter(struct build *b, uint32_t group, uint32_t at, size_t event)
{
	struct report *r = b->r;
	uint32_t frame = r->nodes[self_node(r, at)].frame, entry;

	if (event || !(b->nodes->flags[at] & NODE_ENDS))
		return 0;
	entry = entry_get(b, group, r->class_of[frame], frame);
	if (!entry)
		return -ENOMEM;
	entry_add_node(r, &r->entries.v[entry - 1], at, depth_of(r, at));
	return 0;
}

static int leaves_enter(struct build *b, uint32_t group, const uint32_t *at, size_t n, size_t event)
{
	int err = 0;

	for (size_t i = 0; i < n && err == 0; i++)
		err = leaf_enter(b, group, at[i], event);
	return err;
}

static int group_nodes(struct build *b, uint32_t group, size_t event)
{
	int (*enter)(struct build *b, uint32_t group, const uint32_t *at, size_t n, size_t event) =
		b->r->opts.children ? nodes_enter : leaves_enter;
	uint32_t at[CHUNK];
	size_t n = 0;

	for (const struct node_range *s = b->ranges[group]; s; s = s->next) {
		if (s->next)
			node_prefetch(b, s->next->first);
		for (uint32_t i = s->first; i < s->end; i++) {
			at[n++] = i;
			if (n < CHUNK)
				continue;
			if (enter(b, group, at, n, event) < 0)
				return -ENOMEM;
			n = 0;
		}
	}
	return n ? enter(b, group, at, n, event) : 0;
}

static int group_rows(struct build *b, uint32_t group, size_t event)
{
	int err = 0;

	for (size_t i = group ? b->group_end[group - 1] : 0; i < b->group_end[group] && err == 0; i++)
		if (b->event_of[b->rows[b->sorted[i]].event] == event)
			err = row_enter(b, group, b->sorted[i], event);
	return err;
}

/* Rows come before nodes: then an entry's frame is that of its first sample. */
static int group_enter(struct build *b, uint32_t group, size_t event)
{
	int err = 0;

	b->n_before = b->r->entries.n;
	if (event)
		entries_recall(b, group);
	if (b->by_rows)
		err = group_rows(b, group, event);
	return err == 0 && b->r->opts.callgraphs ? group_nodes(b, group, event) : err;
}

/* ---- the whole report ---- */

static int event_build(struct build *b, size_t event)
{
	int err = b->r->opts.callgraphs ? sums_make(b, event) : 0;

	if (err == 0 && b->r->opts.callgraphs)
		err = path_make(b);
	for (uint32_t g = 0; g < b->r->groups.n && err == 0; g++)
		err = group_enter(b, g, event);
	return err;
}

static int index_events(struct build *b)
{
	struct report *r = b->r;
	size_t n = tacho_profile_n_events(r->profile);

	b->event_of = reallocarray(NULL, n + 1, sizeof(*b->event_of));
	if (!b->event_of)
		return -ENOMEM;
	for (size_t i = 0; i <= n; i++)
		b->event_of[i] = NONE;
	for (size_t i = 0; i < r->n_events; i++)
		b->event_of[r->pub.events[i]] = (uint32_t)i;
	return 0;
}

static bool sums_latency(const struct report *r)
{
	for (size_t i = 0; i < r->n_value_sums; i++)
		if (r->value_sums[i].column->pub.id == TACHO_COLUMN_LATENCY_CHILDREN)
			return true;
	return false;
}

/* Sums per node besides periods, if they are looked at. */
static int node_totals_make(struct report *r)
{
	bool samples = r->opts.count_samples, latency = sums_latency(r);

	if (samples)
		r->node_samples = calloc(r->n_nodes, sizeof(*r->node_samples));
	if (latency)
		r->node_latency = calloc(r->n_nodes, sizeof(*r->node_latency));
	return (samples && !r->node_samples) || (latency && !r->node_latency) ? -ENOMEM : 0;
}

static int tables_make(struct build *b)
{
	struct report *r = b->r;
	size_t n_groups = r->groups.n + 1;

	if (r->opts.callgraphs && node_totals_make(r) < 0)
		return -ENOMEM;
	b->entry_of_class = calloc(r->n_classes + 1, sizeof(*b->entry_of_class));
	b->ranges = calloc(n_groups, sizeof(struct node_range *));
	b->last_entry = calloc(n_groups, sizeof(*b->last_entry));
	if (r->n_events > 1 && r->opts.callgraphs) {
		b->others.sums = reallocarray(NULL, r->n_nodes, sizeof(*b->others.sums));
		b->others.flags = malloc(r->n_nodes);
		if (!b->others.sums || !b->others.flags)
			return -ENOMEM;
	}
	return b->entry_of_class && b->ranges && b->last_entry ? 0 : -ENOMEM;
}

/* Sums of averages are divided by the samples of their entries. */
static void average_values(struct report *r)
{
	const struct column *samples = column_by_id(TACHO_COLUMN_SAMPLES);

	for (size_t i = 0; i < r->n_value_sums; i++) {
		uint64_t *v = r->value_sums[i].sums.v;

		for (size_t e = 0; r->value_sums[i].column->pub.average && e < r->entries.n; e++)
			for (size_t k = 0; k < r->n_events; k++, v++) {
				uint64_t n = report_value(r, &r->entries.v[e], samples, k);

				*v = n ? (uint64_t)((__uint128_t)*v * 1000 / n) : 0;
			}
	}
}

int report_build(struct report *r)
{
	scoped(build_done) struct build b = {
		.r = r, .rows = tacho_profile_rows(r->profile), .n_rows = tacho_profile_n_rows(r->profile),
	};
	int err = find_frame_classes(r);

	if (err == 0)
		err = index_events(&b);
	if (err == 0)
		err = groups_make(&b);
	if (err == 0)
		err = nodes_make(&b);
	if (err == 0)
		err = tables_make(&b);
	for (size_t i = 0; i < r->n_events && err == 0; i++)
		err = event_build(&b, i);
	if (err == 0)
		average_values(r);
	return err;
}
