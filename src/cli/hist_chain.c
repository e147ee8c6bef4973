/*
 * An entry's stacks, merged level by level and only as far as somebody looks.
 *
 * In callee order they go up: from the entry's innermost place in each stack to its callers. In
 * caller order they go down, and then an entry has two kinds: samples that end in it are shown from
 * the outermost caller on, all others from the entry's outermost place on. A node's samples of the
 * first kind are counted in `of_self`; the others are what is left of its total.
 */
#include "cli/hist.h"

#include <errno.h>

struct items {
	struct chain_item *v;
	size_t n, cap;
};

int chain_walk_init(struct chain_walk *w, struct hist *h)
{
	size_t n_frames = tacho_profile_n_frames(h->profile);

	*w = (struct chain_walk){ .hist = h, .caller = h->opts->graph.caller };
	w->of_self = calloc(h->nodes.n + 1, sizeof(*w->of_self));
	w->slot = reallocarray(NULL, n_frames + 1, sizeof(*w->slot));
	if (!w->of_self || !w->slot) {
		chain_walk_done(w);
		return -ENOMEM;
	}
	for (size_t i = 0; i <= n_frames; i++)
		w->slot[i] = HIST_NONE;
	return 0;
}

void chain_walk_done(struct chain_walk *w)
{
	free(w->of_self);
	free(w->slot);
	w->of_self = NULL;
	w->slot = NULL;
}

void chain_level_done(struct chain_level *l)
{
	free(l->sets);
	free(l->items);
	*l = (struct chain_level){ 0 };
}

static const struct hist_node *node_at(const struct chain_walk *w, uint32_t at)
{
	return &w->hist->nodes.v[at];
}

static bool is_root(const struct chain_walk *w, uint32_t at)
{
	return node_at(w, at)->parent == HIST_NONE;
}

/* What a node weighs: periods, or samples where those are shown. */
static uint64_t self_of(const struct chain_walk *w, uint32_t at)
{
	uint64_t own = node_at(w, at)->total;

	if (w->hist->counts.n)
		return w->hist->counts.v[at].self;
	if (!node_at(w, at)->ends)
		return 0;
	for (uint32_t below = node_at(w, at)->child; below != HIST_NONE; below = node_at(w, below)->next)
		own -= node_at(w, below)->total;
	return own;
}

static uint64_t total_of(const struct chain_walk *w, uint32_t at)
{
	return w->hist->counts.n ? w->hist->counts.v[at].total : node_at(w, at)->total;
}

/* The frame that stands for the node's. */
static uint32_t chain_frame(const struct chain_walk *w, uint32_t at)
{
	return hist_chain_frame(w->hist, node_at(w, at)->frame);
}

static int item_add(struct items *l, uint32_t node, bool of_self, uint64_t weight)
{
	struct chain_item *it;

	if (!weight)
		return 0;
	it = vec_add(l);
	if (!it)
		return -ENOMEM;
	*it = (struct chain_item){ .node = node, .of_self = of_self, .weight = weight };
	return 0;
}

/* ---- a level from its items ---- */

static int cmp_lines(const struct hist *h, const struct tacho_profile_frame *a,
		     const struct tacho_profile_frame *b)
{
	struct buf ta = { 0 }, tb = { 0 };
	int c;

	hist_srcline_text(h, a, &ta);
	hist_srcline_text(h, b, &tb);
	c = strcmp(tb.bytes ? tb.bytes : "", ta.bytes ? ta.bytes : "");
	buf_done(&ta);
	buf_done(&tb);
	return c;
}

/* Heaviest first; then, as perf, the higher address first, or the later text of a line. */
static int cmp_sets(const void *pa, const void *pb, void *arg)
{
	const struct chain_set *a = pa, *b = pb;
	const struct hist *h = arg;
	const struct tacho_profile_frame *fa, *fb;

	if (a->weight != b->weight)
		return a->weight < b->weight ? 1 : -1;
	fa = tacho_profile_frame(h->profile, a->frame);
	fb = tacho_profile_frame(h->profile, b->frame);
	if (h->opts->chain_key == CHAIN_SRCLINE)
		return cmp_lines(h, fa, fb);
	if (fa->object == fb->object && fa->address != fb->address)
		return fa->address < fb->address ? 1 : -1;
	return (a->frame > b->frame) - (a->frame < b->frame);
}

static size_t count_frames(struct chain_walk *w, const struct items *l)
{
	uint32_t n = 0;

	for (size_t i = 0; i < l->n; i++) {
		uint32_t frame = chain_frame(w, l->v[i].node);

		if (w->slot[frame] == HIST_NONE)
			w->slot[frame] = n++;
	}
	return n;
}

/* Puts the items of one frame together. */
static int level_make(struct chain_walk *w, const struct items *l, struct chain_level *out)
{
	size_t n = count_frames(w, l), at = 0;

	*out = (struct chain_level){ .n = n };
	out->sets = calloc(n + 1, sizeof(*out->sets));
	out->items = reallocarray(NULL, l->n + 1, sizeof(*out->items));
	for (size_t i = 0; i < l->n && out->sets && out->items; i++)
		out->sets[w->slot[chain_frame(w, l->v[i].node)]].n++;
	for (size_t i = 0; i < n && out->sets && out->items; i++) {
		out->sets[i].v = out->items + at;
		at += out->sets[i].n;
		out->sets[i].n = 0;
	}
	for (size_t i = 0; i < l->n && out->sets && out->items; i++) {
		struct chain_set *set = &out->sets[w->slot[chain_frame(w, l->v[i].node)]];

		set->frame = chain_frame(w, l->v[i].node);
		set->weight += l->v[i].weight;
		set->v[set->n++] = l->v[i];
	}
	for (size_t i = 0; i < l->n; i++)
		w->slot[chain_frame(w, l->v[i].node)] = HIST_NONE;
	if (!out->sets || !out->items) {
		chain_level_done(out);
		return -ENOMEM;
	}
	qsort_r(out->sets, n, sizeof(*out->sets), cmp_sets, w->hist);
	return 0;
}

/* ---- where an entry's stacks begin ---- */

/* The nearest node above that belongs to the entry; there is one. */
static uint32_t entry_above(const struct chain_walk *w, uint32_t at)
{
	const uint32_t *class_of = w->hist->class_of;

	do
		at = node_at(w, at)->parent;
	while (class_of[node_at(w, at)->frame] != w->entry->class_);
	return at;
}

/* Adds a node's own samples to all above it; the outermost is an item once it has any. */
static int mark_up(struct chain_walk *w, uint32_t at, struct items *l)
{
	uint64_t self = self_of(w, at);
	uint32_t up = at, top = at;
	bool first = false;

	for (; !is_root(w, up); up = node_at(w, up)->parent) {
		first = w->of_self[up] == 0;
		w->of_self[up] += self;
		top = up;
	}
	return first ? item_add(l, top, true, self) : 0;
}

static int cmp_items(const void *pa, const void *pb)
{
	const struct chain_item *a = pa, *b = pb;

	return (a->node < b->node) - (a->node > b->node);
}

/* The items stand as the root's children do: the last one first. */
static int mark_self(struct chain_walk *w, struct items *l)
{
	int err = 0;

	for (uint32_t at = w->entry->nodes; at != HIST_NONE && err == 0; at = node_at(w, at)->same)
		if (node_at(w, at)->ends)
			err = mark_up(w, at, l);
	for (size_t i = 0; i < l->n; i++)
		l->v[i].weight = w->of_self[l->v[i].node];
	if (l->n)
		qsort(l->v, l->n, sizeof(*l->v), cmp_items);
	return err;
}

/* What has no mark any more has none above it. */
static void unmark_self(struct chain_walk *w)
{
	for (uint32_t at = w->entry->nodes; at != HIST_NONE; at = node_at(w, at)->same)
		for (uint32_t up = at; w->of_self[up]; up = node_at(w, up)->parent)
			w->of_self[up] = 0;
}

static int begin_down(struct chain_walk *w, struct items *l)
{
	int err = mark_self(w, l);

	if (!w->hist->opts->children)
		return err;
	for (uint32_t at = w->entry->nodes; at != HIST_NONE && err == 0; at = node_at(w, at)->same)
		if (!node_at(w, at)->nested)
			err = item_add(l, at, false, total_of(w, at) - w->of_self[at]);
	return err;
}

static int begin_up(struct chain_walk *w, struct items *l)
{
	bool children = w->hist->opts->children;
	int err = 0;

	/* What passes through a second place further in is counted there: `of_self` holds that. */
	for (uint32_t at = w->entry->nodes; at != HIST_NONE && children; at = node_at(w, at)->same) {
		if (node_at(w, at)->nested)
			w->of_self[entry_above(w, at)] += total_of(w, at);
	}
	for (uint32_t at = w->entry->nodes; at != HIST_NONE; at = node_at(w, at)->same) {
		if (err == 0)
			err = item_add(l, at, false, children ? total_of(w, at) - w->of_self[at] : self_of(w, at));
		w->of_self[at] = 0;
	}
	return err;
}

int chain_walk_begin(struct chain_walk *w, const struct hist_entry *e, struct chain_level *out)
{
	struct items l = { 0 };
	int err;

	w->entry = e;
	err = w->caller ? begin_down(w, &l) : begin_up(w, &l);
	if (err == 0)
		err = level_make(w, &l, out);
	vec_done(&l);
	return err;
}

void chain_walk_end(struct chain_walk *w)
{
	if (w->caller)
		unmark_self(w);
}

/* ---- the next level ---- */

static int step_down(struct chain_walk *w, const struct chain_item *it, struct items *l)
{
	int err = 0;

	for (uint32_t at = node_at(w, it->node)->child; at != HIST_NONE && err == 0;
	     at = node_at(w, at)->next)
		err = item_add(l, at, it->of_self,
			       it->of_self ? w->of_self[at] : total_of(w, at) - w->of_self[at]);
	return err;
}

int chain_walk_next(struct chain_walk *w, const struct chain_set *from, struct chain_level *out)
{
	struct items l = { 0 };
	int err = 0;

	for (size_t i = 0; i < from->n && err == 0; i++) {
		const struct chain_item *it = &from->v[i];
		uint32_t up = node_at(w, it->node)->parent;

		if (w->caller)
			err = step_down(w, it, &l);
		else if (!is_root(w, up))
			err = item_add(&l, up, false, it->weight);
	}
	if (err == 0)
		err = level_make(w, &l, out);
	vec_done(&l);
	return err;
}
