/*
 * Rows and nodes -> entries. Parents have the smaller numbers, so one pass forwards finds for each class
 * the nodes that have none of their own class above them. It does not jump about: what was made together
 * lies together.
 *
 * Whether a node's class is new to its group, whether samples end there, whether it is deeper than others:
 * nobody can foretell any of it for millions of them. What is told by a condition here is often computed
 * either way, rather than branched upon.
 */
#include "report/build.h"

#include <errno.h>

#define CHUNK 128			/* nodes that are entered together */

static void build_done(struct build *b)
{
	arena_done(&b->arena);
	map_done(&b->by_values);
	vec_done(&b->entry_next);
	free(b->event_of);
	free(b->group_of_thread);
	free(b->group_of);
	free(b->sorted);
	free(b->group_end);
	free(b->node_of);
	free(b->other_sums);
	free(b->other_links);
	free(b->stretches);
	free(b->entry_of);
	free(b->path);
	free(b->depth_of);
	free(b->last_entry);
}

/* ---- entries ---- */

static uint32_t class_of(const struct hist *h, uint32_t frame)
{
	return frame == HIST_NONE ? (uint32_t)h->n_classes - 1 : h->class_of[frame];
}

/* What lies beside the entries, for those that were made. */
static int beside_make(struct build *b, uint32_t group)
{
	struct hist *h = b->h;
	size_t n = h->entries.n, n_all = n * h->n_events;
	bool ok = true;

	while (ok && h->others.n < n_all - n)
		ok = vec_add(&h->others);
	while (ok && h->opts->samples && h->hits.n < n_all)
		ok = vec_add(&h->hits);
	while (ok && h->opts->modes && h->modes.n < n_all)
		ok = vec_add(&h->modes);
	while (ok && h->opts->latency && h->latency.n < n_all)
		ok = vec_add(&h->latency);
	while (ok && h->n_events > 1 && b->entry_next.n < n) {
		uint32_t *before = vec_next(&b->entry_next);

		ok = before;
		if (!ok)
			break;
		*before = b->last_entry[group];
		b->last_entry[group] = (uint32_t)b->entry_next.n;
	}
	return ok ? 0 : -ENOMEM;
}

/* v where `counts`, else 0; compilers make a branch of most other ways to say that. */
static inline uint64_t where(bool counts, uint64_t v)
{
	return v & -(uint64_t)counts;
}

static inline bool is_of_group(const struct build *b, uint32_t group, uint32_t entry)
{
	if (b->recalled)
		return entry && b->h->entries.v[entry - 1].group == group;
	return entry > b->n_before;
}

/* The entry of that class, which is made unless the group has one; its index + 1. There is room for one, and
 * one is written: whether it counts turns out behind that. */
static inline uint32_t entry_put(struct build *b, uint32_t group, uint32_t class_, uint32_t frame)
{
	struct hist *h = b->h;
	uint32_t old = b->entry_of[class_];
	bool is_new = !is_of_group(b, group, old);

	h->entries.v[h->entries.n] = (struct hist_entry){ .group = group, .frame = frame, .nodes = HIST_NONE };
	h->entries.n += is_new;
	return b->entry_of[class_] = (uint32_t)(where(is_new, h->entries.n) | where(!is_new, old));
}

/* The same for one, with all that belongs to it. 0 without memory. */
static uint32_t entry_get(struct build *b, uint32_t group, uint32_t class_, uint32_t frame)
{
	uint32_t entry;

	if (!vec_reserve(&b->h->entries, 1))
		return 0;
	entry = entry_put(b, group, class_, frame);
	return beside_make(b, group) == 0 ? entry : 0;
}

static struct hist_stat *stat_at(struct hist *h, uint32_t entry, size_t event)
{
	return event ? &h->others.v[(entry - 1) * (h->n_events - 1) + event - 1] : &h->entries.v[entry - 1].stat;
}

/* Those that earlier events have made. */
static void entries_recall(struct build *b, uint32_t group)
{
	b->recalled = true;
	for (uint32_t at = b->last_entry[group]; at; at = b->entry_next.v[at - 1])
		b->entry_of[class_of(b->h, b->h->entries.v[at - 1].frame)] = at;
}

/* Whose mode the CPU was in. */
static void mode_add(struct hist *h, size_t stat, const struct tacho_profile_row *r)
{
	static const int8_t mode_of[] = { -1, 0, 1, -1, 2, 3 };
	const struct tacho_profile_detail *d = tacho_profile_detail(h->profile, r->detail);
	int mode = d && (size_t)d->space < sizeof(mode_of) ? mode_of[d->space] : -1;

	if (mode >= 0)
		h->modes.v[stat][mode] += r->period;
}

static int row_enter(struct build *b, uint32_t group, size_t row, size_t event)
{
	const struct tacho_profile_row *r = &b->rows[row];
	struct hist *h = b->h;
	uint32_t node = node_of_row(b, row), frame = node ? h->nodes[node].frame : HIST_NONE;
	uint32_t entry = entry_get(b, group, class_of(h, frame), frame);
	size_t stat = (entry - 1) * h->n_events + event;

	if (!entry)
		return -ENOMEM;
	stat_at(h, entry, event)->self += r->period;
	if (!h->opts->chains || !h->opts->children)
		stat_at(h, entry, event)->acc += r->period;
	if (h->opts->samples)
		h->hits.v[stat] += r->samples;
	if (h->opts->modes)
		mode_add(h, stat, r);
	if (h->opts->latency)
		h->latency.v[stat].self += latency_of(h, r);
	return 0;
}

/* ---- the way from the root ---- */

/* As long as the longest way from the root; for other events it is not made shorter, as places that entries
 * have from before may be looked at. */
static int path_make(struct build *b)
{
	size_t n = b->links[0].height + 1;

	b->depth = 0;
	if (!b->depth_of)
		b->depth_of = calloc(b->h->n_nodes, sizeof(*b->depth_of));
	if (n > b->n_path) {
		free(b->path);
		b->path = calloc(n, sizeof(*b->path));
		b->n_path = n;
	}
	return b->path && b->depth_of ? 0 : -ENOMEM;
}

/* Whether it goes through the node, which has that depth. */
static inline bool path_has(const struct build *b, uint32_t node, uint32_t depth)
{
	return (depth <= b->depth) & (b->path[depth].node == node);
}

/* Makes it the way to `node`, upwards until it is that already. Rare: it stays out of the way of others. */
static __attribute__((noinline)) void path_turn(struct build *b, uint32_t node)
{
	uint32_t depth = b->depth_of[node];

	for (uint32_t at = depth; !path_has(b, node, at); at--) {
		const struct hist_link *link = &b->links[node];

		b->path[at] = (struct step){ node, link->height };
		if (!link->nested)
			b->h->entries.v[link->height - 1].outermost = (uint16_t)min_of(at, (uint32_t)UINT16_MAX);
		node = b->h->nodes[node].parent;
	}
	b->depth = depth;
}

/* Makes it the way to `node`, whose parent was entered. Returns whether another node of the entry is on it.
 * Where its first one is said to be, that of another may be by now. */
static inline bool path_add(struct build *b, uint32_t node, uint32_t entry)
{
	uint16_t *first = &b->h->entries.v[entry - 1].outermost;
	uint32_t parent = b->h->nodes[node].parent, depth = b->depth_of[parent];
	bool nested;

	if (!path_has(b, parent, depth))
		path_turn(b, parent);
	nested = (*first <= depth) & (b->path[*first].entry == entry);
	b->depth = b->depth_of[node] = ++depth;
	b->path[depth] = (struct step){ node, entry };
	*first = nested ? *first : (uint16_t)min_of(depth, (uint32_t)UINT16_MAX);
	return nested;
}

/* The frames of the longest chain through the node. */
static uint32_t chain_depth(const struct build *b, const struct hist_link *n)
{
	if (!b->h->opts->graph.caller)
		return b->depth;
	return max_of(n->height + 1u, (uint32_t)where(n->ends, b->depth));
}

/* Puts the node into the entry's list; returns the next one there. */
static uint32_t entry_list(struct hist_entry *e, uint32_t at, uint32_t depth)
{
	uint32_t next = e->nodes;

	e->nodes = at;
	e->depth = (uint16_t)min_of(max_of((uint32_t)e->depth, depth), (uint32_t)UINT16_MAX);
	return next;
}

/* A node's own samples are what does not go on to a child. Where none end there is nothing to tell; at the
 * root none do, or rows tell it. */
static void self_add(struct build *b, uint32_t at, bool ends, struct hist_stat *stat, size_t event)
{
	const struct hist_link *above = &b->links[b->h->nodes[at].parent];

	stat->self += where(ends, b->sums[at]);
	if (above->ends)
		stat_at(b->h, above->height, event)->self -= b->sums[at];
}

/* Puts the node into its entry; counts it where nothing above it has. With `plain` it is of the first event,
 * whose nodes tell all: known to the compiler, as it nearly always is so. */
static inline __attribute__((always_inline)) void node_enter(struct build *b, uint32_t at, size_t event,
							     bool plain)
{
	struct hist *h = b->h;
	struct hist_link link = b->links[at];
	uint32_t entry = link.same;
	struct hist_stat *stat = stat_at(h, entry, event);
	bool nested;

	nested = path_add(b, at, entry);
	stat->acc += where(!nested, b->sums[at]);
	if (!plain && !nested && h->node_latency)
		h->latency.v[(entry - 1) * h->n_events + event].acc += h->node_latency[at].total;
	if (plain || !b->by_rows)
		self_add(b, at, link.ends, stat, event);
	if (event == 0)
		link.same = entry_list(&h->entries.v[entry - 1], at, chain_depth(b, &link));
	link.nested = nested;
	link.height = entry & HIST_ENTRY_MAX;
	b->links[at] = link;		/* as a whole: what is read behind a write of its parts has to wait */
}

static void node_prefetch(const struct build *b, uint32_t at)
{
	__builtin_prefetch(&b->sums[at]);
	__builtin_prefetch(&b->links[at]);
	__builtin_prefetch(&b->h->nodes[at]);
}

/* Classes, entries and parents lie anywhere: what one step looks at, the step before it has fetched for all. */
static int nodes_enter(struct build *b, uint32_t group, const uint32_t *at, size_t n, size_t event)
{
	struct hist *h = b->h;

	if (!vec_reserve(&h->entries, n))
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		__builtin_prefetch(&b->entry_of[b->links[at[i]].same]);
	for (size_t i = 0; i < n; i++) {
		struct hist_link *link = &b->links[at[i]];

		link->same = entry_put(b, group, link->same, h->nodes[at[i]].frame);
		__builtin_prefetch(&h->entries.v[link->same - 1]);
		__builtin_prefetch(&b->links[h->nodes[at[i]].parent]);
		__builtin_prefetch(&b->depth_of[h->nodes[at[i]].parent]);
	}
	if (beside_make(b, group) < 0)
		return -ENOMEM;
	if (!event && !b->by_rows)
		for (size_t i = 0; i < n; i++)
			node_enter(b, at[i], 0, true);
	else
		for (size_t i = 0; i < n; i++)
			node_enter(b, at[i], event, false);
	return 0;
}

static uint32_t depth_of(const struct hist *h, uint32_t node)
{
	uint32_t depth = 0;

	for (; node; node = h->nodes[node].parent)
		depth++;
	return depth;
}

/* Without `children` an entry has the nodes where its samples end. */
static int leaf_enter(struct build *b, uint32_t group, uint32_t at, size_t event)
{
	struct hist *h = b->h;
	uint32_t entry;

	if (event || !b->links[at].ends)
		return 0;
	entry = entry_get(b, group, b->links[at].same, h->nodes[at].frame);
	if (!entry)
		return -ENOMEM;
	b->links[at].same = entry_list(&h->entries.v[entry - 1], at, depth_of(h, at));
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
		b->h->opts->children ? nodes_enter : leaves_enter;
	uint32_t at[CHUNK];
	size_t n = 0;

	for (const struct stretch *s = b->stretches[group]; s; s = s->next) {
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

static int group_enter(struct build *b, uint32_t group, size_t event)
{
	int err = 0;

	b->n_before = b->h->entries.n;
	if (event)
		entries_recall(b, group);
	if (b->by_rows)		/* before the nodes: then an entry's frame is that of its first sample */
		err = group_rows(b, group, event);
	return err == 0 && b->h->opts->chains ? group_nodes(b, group, event) : err;
}

/* ---- all of it ---- */

static int event_build(struct build *b, size_t event)
{
	int err = b->h->opts->chains ? sums_make(b, event) : 0;

	if (err == 0 && b->h->opts->chains)
		err = path_make(b);
	for (uint32_t g = 0; g < b->h->groups.n && err == 0; g++)
		err = group_enter(b, g, event);
	return err;
}

static int events_learn(struct build *b)
{
	struct hist *h = b->h;
	size_t n = tacho_profile_n_events(h->profile);

	b->event_of = reallocarray(NULL, n + 1, sizeof(*b->event_of));
	if (!b->event_of)
		return -ENOMEM;
	for (size_t i = 0; i <= n; i++)
		b->event_of[i] = HIST_NONE;
	for (size_t i = 0; i < h->n_events; i++)
		b->event_of[h->events[i]] = (uint32_t)i;
	return 0;
}

/* What is summed up besides periods, where it is shown. */
static int twice_make(struct hist *h)
{
	bool counts = h->opts->graph.value == VALUE_COUNT && h->opts->graph.style != GRAPH_NONE;

	if (counts)
		h->counts = calloc(h->n_nodes, sizeof(*h->counts));
	if (h->opts->latency)
		h->node_latency = calloc(h->n_nodes, sizeof(*h->node_latency));
	return (counts && !h->counts) || (h->opts->latency && !h->node_latency) ? -ENOMEM : 0;
}

static int tables_make(struct build *b)
{
	struct hist *h = b->h;
	size_t n_groups = h->groups.n + 1;

	if (h->opts->chains && twice_make(h) < 0)
		return -ENOMEM;
	b->entry_of = calloc(h->n_classes + 1, sizeof(*b->entry_of));
	b->stretches = calloc(n_groups, sizeof(struct stretch *));
	b->last_entry = calloc(n_groups, sizeof(*b->last_entry));
	if (h->n_events > 1 && h->opts->chains) {
		b->other_sums = reallocarray(NULL, h->n_nodes, sizeof(*b->other_sums));
		b->other_links = reallocarray(NULL, h->n_nodes, sizeof(*b->other_links));
		if (!b->other_sums || !b->other_links)
			return -ENOMEM;
	}
	return b->entry_of && b->stretches && b->last_entry ? 0 : -ENOMEM;
}

static int build_all(struct build *b)
{
	int err = hist_classes(b->h);

	if (err == 0)
		err = events_learn(b);
	if (err == 0)
		err = groups_make(b);
	if (err == 0)
		err = nodes_make(b);
	if (err == 0)
		err = tables_make(b);
	for (size_t i = 0; i < b->h->n_events && err == 0; i++)
		err = event_build(b, i);
	return err;
}

/* Which symbols are listed is decided here, rather than by the profile's filters. */
static void totals_listed(struct hist *h)
{
	h->period = 0;
	for (size_t i = 0; i < h->n_events; i++) {
		h->totals[i] = 0;
		h->total_latency[i] = 0;
		for (size_t k = 0; k < h->n_order; k++) {
			const struct hist_entry *e = hist_entry_at(h, k);

			h->totals[i] += hist_value(h, e, COL_OVERHEAD, i);
			h->total_latency[i] += h->opts->latency ? hist_value(h, e, COL_LATENCY, i) : 0;
		}
		h->period += h->totals[i];
	}
}

int hist_build(struct hist *h, const struct tacho_profile *p, const struct hist_opts *opts,
	       const uint32_t *events, size_t n_events)
{
	scoped(build_done) struct build b = {
		.h = h, .rows = tacho_profile_rows(p), .n_rows = tacho_profile_n_rows(p),
	};
	int err;

	*h = (struct hist){ .profile = p, .opts = opts, .n_events = min_of(n_events, countof(h->events)) };
	for (size_t i = 0; i < h->n_events; i++) {
		const struct tacho_profile_event *ev = tacho_profile_event(p, events[i]);

		h->events[i] = events[i];
		h->total_latency[i] = opts->relative ? ev->latency : ev->all_latency;
		h->totals[i] = opts->relative ? ev->period : ev->all_period;
		h->samples += opts->relative ? ev->samples : ev->all_samples;
		h->period += h->totals[i];
		if (i == 0)
			h->total_count = h->samples;
	}
	err = build_all(&b);
	build_done(&b);		/* what comes next uses its memory again */
	b = (struct build){ 0 };
	if (err == 0)
		err = hist_order(h);
	if (err == 0 && opts->relative && opts->symbol_filter)
		totals_listed(h);
	return err;
}
