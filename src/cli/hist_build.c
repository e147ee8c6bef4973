/*
 * Rows -> groups -> entries. The rows of one group come together; the group's part of the trie is
 * copied with its parents first, so that one pass backwards adds up all totals, and one walk finds
 * for each class the nodes that have none of their own class above them.
 */
#include "cli/hist.h"

#include <errno.h>

#include "base/arena.h"
#include "base/map.h"

struct class_now {
	uint32_t entry;			/* + 1 */
	uint32_t above;			/* how many nodes of it lie above the one at hand */
};

struct build {
	struct hist *h;
	const struct tacho_profile_row *rows;
	const struct tacho_profile_node *nodes;
	size_t n_rows;
	struct arena arena;		/* keys of `by_values` */
	struct map by_values;		/* the values of all keys of a row -> group */
	uint32_t *group_of_thread;	/* where only the thread matters; group + 1 */
	bool only_thread;
	uint32_t *group_of;		/* per row; HIST_NONE: of another event */
	uint32_t *event_of;		/* per event of the profile: index in h->events, or HIST_NONE */
	uint32_t *sorted;		/* rows by group */
	size_t n_sorted;
	size_t *group_end;
	uint32_t *copied;		/* per node of the profile: in h->nodes; of the group at hand where
					 * that is behind `base` */
	struct class_now *classes;	/* per class, as of the group at hand */
	uint32_t *path;			/* nodes on the way up, or classes on the way down */
	uint32_t *walk;			/* the group's nodes, each before those below it */
	size_t n_walk;
	uint32_t base, first_entry;	/* of the group at hand */
};

static void build_done(struct build *b)
{
	arena_done(&b->arena);
	map_done(&b->by_values);
	free(b->group_of_thread);
	free(b->group_of);
	free(b->event_of);
	free(b->sorted);
	free(b->group_end);
	free(b->copied);
	free(b->classes);
	free(b->path);
	free(b->walk);
}

#define AHEAD 16

/* ---- groups ---- */

static int group_add(struct build *b, const uint64_t *values, const struct tacho_profile_row *r,
		     uint32_t *out)
{
	size_t n = b->h->opts->n_keys * sizeof(*values);
	struct hist_group *g = vec_add(&b->h->groups);
	char *key = g ? arena_str(&b->arena, str_n((const char *)values, n)) : NULL;

	if (!key)
		return -ENOMEM;
	memcpy(g->v, values, n);
	g->thread = r->thread;
	g->detail = r->detail;
	*out = (uint32_t)(b->h->groups.n - 1);
	return map_put(&b->by_values, str_n(key, n), *out);
}

static int group_find(struct build *b, const struct tacho_profile_row *r, uint32_t *out)
{
	const struct hist_opts *o = b->h->opts;
	uint64_t values[HIST_KEYS_MAX + 1] = { 0 };
	const uint64_t *hit;

	if (b->only_thread && b->group_of_thread[r->thread]) {
		*out = b->group_of_thread[r->thread] - 1;
		return 0;
	}
	for (size_t i = 0; i < o->n_keys; i++)
		if (o->keys[i] >= COL_FIRST_KEY && o->keys[i] < COL_FIRST_OF_FRAME)
			values[i] = hist_row_value(b->h, o->keys[i], r);
	hit = map_get(&b->by_values, str_n((const char *)values, o->n_keys * sizeof(*values)));
	if (hit)
		*out = (uint32_t)*hit;
	else if (group_add(b, values, r, out) < 0)
		return -ENOMEM;
	b->group_of_thread[r->thread] = *out + 1;
	return 0;
}

/* Rows by group, each group's in the order they came. */
static int rows_sort(struct build *b)
{
	size_t sum = 0;

	b->group_end = calloc(b->h->groups.n + 1, sizeof(*b->group_end));
	b->sorted = reallocarray(NULL, b->n_rows + 1, sizeof(*b->sorted));
	if (!b->group_end || !b->sorted)
		return -ENOMEM;
	for (size_t i = 0; i < b->n_rows; i++)
		if (b->group_of[i] != HIST_NONE)
			b->group_end[b->group_of[i]]++;
	for (size_t g = 0; g < b->h->groups.n; g++) {
		size_t n = b->group_end[g];

		b->group_end[g] = sum;
		sum += n;
	}
	b->n_sorted = sum;
	for (size_t i = 0; i < b->n_rows; i++)
		if (b->group_of[i] != HIST_NONE)
			b->sorted[b->group_end[b->group_of[i]]++] = (uint32_t)i;
	return 0;
}

/* The time a row's samples stand for, where others ran beside them: times 1000, as perf, so that
 * little is lost by dividing. */
static uint64_t latency_of(const struct hist *h, const struct tacho_profile_row *r)
{
	const struct tacho_profile_detail *d = tacho_profile_detail(h->profile, r->detail);

	return r->period * 1000 / (d && d->parallelism ? d->parallelism : 1);
}

static int groups_make(struct build *b)
{
	b->group_of = reallocarray(NULL, b->n_rows + 1, sizeof(*b->group_of));
	b->group_of_thread = calloc(tacho_profile_n_threads(b->h->profile) + 1, sizeof(uint32_t));
	if (!b->group_of || !b->group_of_thread)
		return -ENOMEM;
	b->only_thread = true;
	for (size_t i = 0; i < b->h->opts->n_keys; i++)
		if (b->h->opts->keys[i] >= COL_CPU && b->h->opts->keys[i] < COL_FIRST_OF_FRAME)
			b->only_thread = false;
	for (size_t i = 0; i < b->n_rows; i++) {
		b->group_of[i] = HIST_NONE;
		if (b->event_of[b->rows[i].event] != HIST_NONE &&
		    group_find(b, &b->rows[i], &b->group_of[i]) < 0)
			return -ENOMEM;
	}
	return rows_sort(b);
}

/* ---- one group's part of the trie ---- */

static bool counts_nodes(const struct hist *h)
{
	return h->opts->graph.value == VALUE_COUNT && h->opts->graph.style != GRAPH_NONE;
}

static int node_add(struct build *b, uint32_t parent, uint32_t frame, uint32_t *out)
{
	struct hist_node *n = vec_add(&b->h->nodes);

	if (!n || (counts_nodes(b->h) && !vec_add(&b->h->counts)) ||
	    (b->h->opts->latency && !vec_add(&b->h->node_latency)))
		return -ENOMEM;
	*out = (uint32_t)(b->h->nodes.n - 1);
	*n = (struct hist_node){ .parent = parent, .frame = frame, .child = HIST_NONE,
				 .next = HIST_NONE, .same = HIST_NONE };
	if (parent != HIST_NONE) {
		struct hist_node *above = &b->h->nodes.v[parent];

		n->next = above->child;
		n->depth = (above->depth + 1u) & INT16_MAX;
		above->child = *out;
	}
	return 0;
}

static bool is_copied(const struct build *b, uint32_t node)
{
	return b->copied[node] > b->base;
}

/* The copy of a node, with all above it. */
static int node_copy(struct build *b, uint32_t node, uint32_t *out)
{
	size_t n = 0;

	for (; node && !is_copied(b, node); node = b->nodes[node].parent)
		b->path[n++] = node;
	*out = node ? b->copied[node] : b->base;
	while (n--) {
		if (node_add(b, *out, b->nodes[b->path[n]].frame, out) < 0)
			return -ENOMEM;
		b->copied[b->path[n]] = *out;
	}
	return 0;
}

/* The copies made for one event are dropped, and their numbers will be others'. */
static void copies_forget(struct build *b, uint32_t group, size_t from)
{
	for (size_t i = from; i < b->group_end[group]; i++) {
		uint32_t node = b->rows[b->sorted[i]].node;

		for (; node && is_copied(b, node); node = b->nodes[node].parent)
			b->copied[node] = 0;
	}
}

static void counts_add_up(struct hist *h, size_t at, uint32_t parent)
{
	h->counts.v[at].total += h->counts.v[at].self;
	if (parent != HIST_NONE)
		h->counts.v[parent].total += h->counts.v[at].total;
}

static void latency_add_up(struct hist *h, size_t at, uint32_t parent)
{
	h->node_latency.v[at].total += h->node_latency.v[at].self;
	if (parent != HIST_NONE)
		h->node_latency.v[parent].total += h->node_latency.v[at].total;
}

static void nodes_add_up(struct build *b)
{
	struct hist_node *v = b->h->nodes.v;

	for (size_t i = b->h->nodes.n; i-- > b->base;) {
		struct hist_node *n = &v[i];

		if (b->h->counts.n)
			counts_add_up(b->h, i, n->parent);
		if (b->h->node_latency.n)
			latency_add_up(b->h, i, n->parent);
		if (n->parent == HIST_NONE)
			continue;
		v[n->parent].total += n->total;
		if (v[n->parent].height < n->height + 1)
			v[n->parent].height = (n->height + 1u) & INT16_MAX;
	}
}

/* ---- entries ---- */

static struct hist_entry *entry_get(struct build *b, uint32_t group, uint32_t frame)
{
	struct hist *h = b->h;
	uint32_t class_ = frame == HIST_NONE ? (uint32_t)h->n_classes - 1 : h->class_of[frame];
	uint32_t at = b->classes[class_].entry;
	struct hist_entry *e;

	if (at > b->first_entry)
		return &h->entries.v[at - 1];
	e = vec_add(&h->entries);
	if (!e)
		return NULL;
	*e = (struct hist_entry){ .group = group, .class_ = class_, .frame = frame, .nodes = HIST_NONE };
	b->classes[class_].entry = (uint32_t)h->entries.n;
	for (size_t i = 0; i < h->n_events; i++)
		if (!vec_add(&h->stats) || (h->opts->modes && !vec_add(&h->modes)) ||
		    (h->opts->latency && !vec_add(&h->latency)))
			return NULL;
	return e;
}

/* What entry_get() will ask for soon; the second once the first is there. */
static void class_prefetch(const struct build *b, uint32_t frame)
{
	if (frame != HIST_NONE)
		__builtin_prefetch(&b->classes[b->h->class_of[frame]], 1);
}

static void entry_prefetch(const struct build *b, uint32_t frame)
{
	uint32_t at = frame != HIST_NONE ? b->classes[b->h->class_of[frame]].entry : 0;

	if (at <= b->first_entry)
		return;
	__builtin_prefetch(&b->h->entries.v[at - 1], 1);
	__builtin_prefetch(&b->h->stats.v[(size_t)(at - 1) * b->h->n_events], 1);
}

static struct hist_stat *stat_at(struct hist *h, const struct hist_entry *e, size_t event)
{
	return &h->stats.v[(size_t)(e - h->entries.v) * h->n_events + event];
}

/* Whose mode the CPU was in. */
static void mode_add(struct hist *h, const struct hist_entry *e, size_t event,
		     const struct tacho_profile_row *r)
{
	static const int8_t mode_of[] = { -1, 0, 1, -1, 2, 3 };
	const struct tacho_profile_detail *d = tacho_profile_detail(h->profile, r->detail);
	int mode = d && (size_t)d->space < sizeof(mode_of) ? mode_of[d->space] : -1;

	if (mode >= 0)
		h->modes.v[(size_t)(e - h->entries.v) * h->n_events + event][mode] += r->period;
}

static int row_take(struct build *b, uint32_t group, const struct tacho_profile_row *r)
{
	uint32_t frame = r->node ? b->nodes[r->node].frame : HIST_NONE, copy;
	struct hist_entry *e = entry_get(b, group, frame);
	struct hist_stat *s;

	if (!e)
		return -ENOMEM;
	s = stat_at(b->h, e, b->event_of[r->event]);
	s->self += r->period;
	s->samples += r->samples;
	if (b->h->opts->modes)
		mode_add(b->h, e, b->event_of[r->event], r);
	if (b->h->opts->latency)
		b->h->latency.v[s - b->h->stats.v].self += latency_of(b->h, r);
	if (!b->h->opts->chains) {
		s->acc += r->period;
		return 0;
	}
	if (node_copy(b, r->node, &copy) < 0)
		return -ENOMEM;
	b->h->nodes.v[copy].total += r->period;
	b->h->nodes.v[copy].ends |= r->period != 0;
	if (b->h->counts.n)
		b->h->counts.v[copy].self += r->samples;
	if (b->h->node_latency.n)
		b->h->node_latency.v[copy].self += latency_of(b->h, r);
	return 0;
}

/* The rows that follow lie anywhere, and so do their nodes. */
static void row_prefetch(const struct build *b, size_t i)
{
	if (i + AHEAD < b->n_sorted)
		__builtin_prefetch(&b->rows[b->sorted[i + AHEAD]]);
	if (i + AHEAD / 2 < b->n_sorted) {
		uint32_t node = b->rows[b->sorted[i + AHEAD / 2]].node;

		__builtin_prefetch(&b->nodes[node]);
		if (b->h->opts->chains)
			__builtin_prefetch(&b->copied[node], 1);
	}
	if (i + AHEAD / 4 < b->n_sorted)
		class_prefetch(b, b->nodes[b->rows[b->sorted[i + AHEAD / 4]].node].frame);
}

static void note_depth(struct build *b, struct hist_entry *e, const struct hist_node *n)
{
	uint32_t chain = b->h->opts->graph.caller ? n->height + 1u : n->depth;

	if (n->ends && n->depth > chain)
		chain = n->depth;
	e->depth = max_of(e->depth, chain);
}

/* Puts the node into its entry; counts it where nothing above it has. */
static int node_enter(struct build *b, uint32_t group, uint32_t at, size_t event)
{
	struct hist_entry *e = entry_get(b, group, b->h->nodes.v[at].frame);
	struct hist_node *n = &b->h->nodes.v[at];

	if (!e)
		return -ENOMEM;
	b->path[n->depth] = e->class_;
	n->same = HIST_NONE;
	if (b->classes[e->class_].above++ == 0) {
		struct hist_stat *s = stat_at(b->h, e, event);

		s->acc += n->total;
		if (b->h->node_latency.n)
			b->h->latency.v[s - b->h->stats.v].acc += b->h->node_latency.v[at].total;
	} else {
		n->nested = true;
	}
	if (event == 0) {
		n->same = e->nodes;
		e->nodes = at;
		note_depth(b, e, n);
	}
	return 0;
}

/* Each node before its children, of these the last one first. A node's place is known from its
 * parent's and from how many lie below each: no list is followed, and so all can be fetched early.
 * `same` has that number, then where the children that are still to come end. */
static int nodes_walk(struct build *b)
{
	struct hist_node *v = b->h->nodes.v;
	size_t n = b->h->nodes.n - b->base;

	if (n > b->n_walk) {
		free(b->walk);
		b->walk = reallocarray(NULL, n, sizeof(*b->walk));
		b->n_walk = b->walk ? n : 0;
	}
	if (!b->walk)
		return -ENOMEM;
	for (size_t i = n; i-- > 0;)
		v[b->base + i].same = 1;
	for (size_t i = n; i-- > 1;)
		v[v[b->base + i].parent].same += v[b->base + i].same;
	for (size_t i = 1; i < n; i++) {
		struct hist_node *c = &v[b->base + i], *above = &v[c->parent];
		uint32_t place = above->same - c->same;

		b->walk[place] = (uint32_t)(b->base + i);
		c->same = above->same;
		above->same = place;
	}
	return 0;
}

static void walk_prefetch(const struct build *b, size_t i, size_t n)
{
	const struct hist_node *v = b->h->nodes.v;

	if (i + AHEAD < n)
		__builtin_prefetch(&v[b->walk[i + AHEAD]], 1);
	if (i + AHEAD * 3 / 4 < n)
		__builtin_prefetch(&b->h->class_of[v[b->walk[i + AHEAD * 3 / 4]].frame]);
	if (i + AHEAD / 2 < n)
		class_prefetch(b, v[b->walk[i + AHEAD / 2]].frame);
	if (i + AHEAD / 4 < n)
		entry_prefetch(b, v[b->walk[i + AHEAD / 4]].frame);
}

/* Those on the way from the root to the node at hand are in `path`, by depth. */
static int walk_entries(struct build *b, uint32_t group, size_t event)
{
	const struct hist_node *v = b->h->nodes.v;
	size_t n = b->h->nodes.n - b->base, depth = 0;
	int err = nodes_walk(b);

	for (size_t i = 1; i < n && err == 0; i++) {
		walk_prefetch(b, i, n);
		for (; depth >= v[b->walk[i]].depth; depth--)
			b->classes[b->path[depth]].above--;
		depth = v[b->walk[i]].depth;
		err = node_enter(b, group, b->walk[i], event);
	}
	for (; depth > 0 && err == 0; depth--)
		b->classes[b->path[depth]].above--;
	return err;
}

/* Before totals are added up: each node has what ends there. */
static int only_leaves(struct build *b, uint32_t group, size_t event)
{
	struct hist *h = b->h;

	for (uint32_t at = b->base + 1; at < h->nodes.n; at++) {
		struct hist_node *n = &h->nodes.v[at];
		struct hist_entry *e;

		if (!n->ends)
			continue;
		e = entry_get(b, group, n->frame);
		if (!e)
			return -ENOMEM;
		stat_at(h, e, event)->acc += n->total;
		if (event)
			continue;
		n->same = e->nodes;
		e->nodes = at;
		e->depth = max_of(e->depth, (uint32_t)n->depth);
	}
	return 0;
}

static int group_event(struct build *b, uint32_t group, size_t event, size_t from)
{
	struct hist *h = b->h;
	int err = 0;

	b->base = (uint32_t)h->nodes.n;
	if (h->opts->chains)
		err = node_add(b, HIST_NONE, HIST_NONE, &b->base);
	for (size_t i = from; i < b->group_end[group] && err == 0; i++) {
		row_prefetch(b, i);
		if (b->event_of[b->rows[b->sorted[i]].event] == event)
			err = row_take(b, group, &b->rows[b->sorted[i]]);
	}
	if (err < 0 || !h->opts->chains)
		return err;
	if (!h->opts->children)
		err = only_leaves(b, group, event);
	nodes_add_up(b);
	return h->opts->children ? walk_entries(b, group, event) : err;
}

static int group_build(struct build *b, uint32_t group)
{
	struct hist *h = b->h;
	size_t from = group ? b->group_end[group - 1] : 0;

	b->first_entry = (uint32_t)h->entries.n;
	for (size_t i = 0; i < h->n_events; i++) {
		size_t kept = h->nodes.n;
		int err = group_event(b, group, i, from);

		if (err < 0)
			return err;
		if (i == 0) {		/* graphs are drawn of the first event only */
			h->groups.v[group].first_node = (uint32_t)kept;
			h->groups.v[group].end_node = (uint32_t)h->nodes.n;
			continue;
		}
		if (h->opts->chains)
			copies_forget(b, group, from);
		h->nodes.n = kept;
		h->counts.n = min_of(h->counts.n, kept);
		h->node_latency.n = min_of(h->node_latency.n, kept);
	}
	return 0;
}

/* ---- all of it ---- */

static uint32_t *filled(size_t n, uint32_t value)
{
	uint32_t *v = reallocarray(NULL, n + 1, sizeof(*v));

	for (size_t i = 0; v && i <= n; i++)
		v[i] = value;
	return v;
}

static int build_tables(struct build *b)
{
	struct hist *h = b->h;

	b->event_of = filled(tacho_profile_n_events(h->profile), HIST_NONE);
	b->copied = calloc((h->opts->chains ? tacho_profile_n_nodes(h->profile) : 0) + 1, sizeof(*b->copied));
	b->classes = calloc(h->n_classes + 1, sizeof(*b->classes));
	b->path = reallocarray(NULL, UINT16_MAX, sizeof(*b->path));
	if (!b->event_of || !b->copied || !b->classes || !b->path)
		return -ENOMEM;
	for (size_t i = 0; i < h->n_events; i++)
		b->event_of[h->events[i]] = (uint32_t)i;
	return 0;
}

int hist_build(struct hist *h, const struct tacho_profile *p, const struct hist_opts *opts,
	       const uint32_t *events, size_t n_events)
{
	scoped(build_done) struct build b = {
		.h = h, .rows = tacho_profile_rows(p), .nodes = tacho_profile_nodes(p),
		.n_rows = tacho_profile_n_rows(p),
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
	err = hist_classes(h);
	if (err == 0)
		err = build_tables(&b);
	if (err == 0)
		err = groups_make(&b);
	for (uint32_t g = 0; g < h->groups.n && err == 0; g++)
		err = group_build(&b, g);
	return err < 0 ? err : hist_order(h);
}
