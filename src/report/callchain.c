/*
 * An entry's stacks, merged level by level and only as far as somebody looks.
 *
 * In callee order they go up: from the entry's innermost place in each stack to its callers. In
 * caller order they go down, and then an entry has two kinds: samples that end in it are shown from
 * the outermost caller on, all others from the entry's outermost place on. A node's samples of the
 * first kind are counted in `of_self`; the others are what is left of its total.
 */
#include "report/report.h"

#include <errno.h>

#define AHEAD 12

int chain_walk_init(struct chain_walk *w, struct hist *h)
{
	*w = (struct chain_walk){ .hist = h, .caller = h->opts->graph.caller };
	w->slot = calloc(tacho_profile_n_frames(h->profile) + 1, sizeof(*w->slot));
	if (!w->slot || chain_below_init(&w->below, h->nodes, h->n_nodes) < 0 ||
	    chain_marks_init(&w->of_self, h->n_nodes) < 0) {
		chain_walk_done(w);
		return -ENOMEM;
	}
	return 0;
}

void chain_walk_done(struct chain_walk *w)
{
	chain_below_done(&w->below);
	chain_marks_done(&w->of_self);
	vec_done(&w->sets);
	vec_done(&w->items);
	vec_done(&w->tops);
	for (size_t i = 0; i < countof(w->lists); i++)
		vec_done(&w->lists[i]);
	free(w->slot);
	w->slot = NULL;
}

void chain_level_done(struct chain_level *l)
{
	free(l->sets);
	free(l->items);
	*l = (struct chain_level){ 0 };
}

static const struct hist_link *link_of(const struct chain_walk *w, uint32_t at)
{
	return &w->hist->links[at];
}

static uint32_t parent_of(const struct chain_walk *w, uint32_t at)
{
	return w->hist->nodes[at].parent;
}

/* What a node weighs: periods, or samples where those are shown. */
static uint64_t self_of(const struct chain_walk *w, uint32_t at)
{
	uint64_t own = w->hist->sums[at];
	uint32_t below, list;

	if (w->hist->counts)
		return w->hist->counts[at].self;
	if (!link_of(w, at)->ends)
		return 0;
	for (below = chain_below_first(&w->below, at, &list); below; below = chain_below_next(&w->below, &list))
		own -= w->hist->sums[below];
	return own;
}

static uint64_t total_of(const struct chain_walk *w, uint32_t at)
{
	return w->hist->counts ? w->hist->counts[at].total : w->hist->sums[at];
}

/* The frame that stands for the node's. */
static uint32_t chain_frame(const struct chain_walk *w, uint32_t at)
{
	return hist_chain_frame(w->hist, w->hist->nodes[at].frame);
}

/* The set of a frame in the level at hand, or -ENOMEM. */
static int64_t set_of(struct chain_walk *w, uint32_t frame)
{
	struct chain_set *set;

	if (!w->slot[frame]) {
		set = vec_next(&w->sets);
		if (!set)
			return -ENOMEM;
		*set = (struct chain_set){ .frame = frame };
		w->slot[frame] = (uint32_t)w->sets.n;
	}
	return w->slot[frame] - 1;
}

static int item_add(struct chain_walk *w, uint32_t node, bool of_self, uint64_t weight)
{
	struct chain_item *it;
	int64_t set;

	if (!weight)
		return 0;
	set = set_of(w, chain_frame(w, node));
	if (set < 0)
		return -ENOMEM;
	w->sets.v[set].weight += weight;
	if (w->caller && !link_of(w, node)->height)
		return 0;		/* from here nothing goes on */
	it = vec_next(&w->items);
	if (!it)
		return -ENOMEM;
	*it = (struct chain_item){ .node = node, .of_self = of_self, .set = (uint32_t)set & INT32_MAX,
				   .weight = weight };
	w->sets.v[set].n++;
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

/* As perf: what lies in no object comes last, before it the objects that were met later, in each of them
 * the higher address first. */
int chain_place_cmp(const struct hist *h, const struct chain_set *a, const struct chain_set *b)
{
	const struct tacho_profile_frame *fa = tacho_profile_frame(h->profile, a->frame);
	const struct tacho_profile_frame *fb = tacho_profile_frame(h->profile, b->frame);

	if (fa->code->object != fb->code->object)
		return fa->code->object < fb->code->object ? 1 : -1;
	if (fa->address != fb->address)
		return fa->address < fb->address ? 1 : -1;
	return (a->frame > b->frame) - (a->frame < b->frame);
}

/* Heaviest first; then by their places, or the later text of a line first. */
static int cmp_sets(const void *pa, const void *pb, void *arg)
{
	const struct chain_set *a = pa, *b = pb;
	const struct hist *h = arg;
	int c = 0;

	if (a->weight != b->weight)
		return a->weight < b->weight ? 1 : -1;
	if (h->opts->chain_key == CHAIN_SRCLINE)
		c = cmp_lines(h, tacho_profile_frame(h->profile, a->frame),
			      tacho_profile_frame(h->profile, b->frame));
	return c ? c : chain_place_cmp(h, a, b);
}

/* Counts the sets that weigh enough; returns how many items these have. */
static size_t sets_weigh(const struct chain_walk *w, struct chain_level *out)
{
	size_t n_items = 0;

	*out = (struct chain_level){ .n_all = w->sets.n };
	for (size_t i = 0; i < w->sets.n; i++) {
		const struct chain_set *set = &w->sets.v[i];

		out->weight += set->weight;
		if (set->weight < w->least)
			continue;
		out->n++;
		n_items += set->n;
	}
	return n_items;
}

/* Items lie set by set; `v` of a set at hand is where its next one goes. */
static void sets_fill(struct chain_walk *w, struct chain_level *out)
{
	struct chain_item *at = out->items;
	size_t n = 0;

	for (size_t i = 0; i < w->sets.n; i++) {
		struct chain_set *set = &w->sets.v[i];

		if (set->weight < w->least)
			continue;
		set->v = at;
		at += set->n;
		out->sets[n++] = *set;
	}
	for (size_t i = 0; i < w->items.n; i++) {
		struct chain_set *set = &w->sets.v[w->items.v[i].set];

		if (set->v)
			*set->v++ = w->items.v[i];
	}
}

/* The sets of the level at hand that weigh enough; of others only their number and weight count. */
static int sets_take(struct chain_walk *w, struct chain_level *out)
{
	size_t n_items = sets_weigh(w, out);

	out->sets = reallocarray(NULL, out->n + 1, sizeof(*out->sets));
	out->items = reallocarray(NULL, n_items + 1, sizeof(*out->items));
	if (!out->sets || !out->items) {
		chain_level_done(out);
		return -ENOMEM;
	}
	sets_fill(w, out);
	qsort_r(out->sets, out->n, sizeof(*out->sets), cmp_sets, w->hist);
	return 0;
}

/* Once all items were added, or one could not be. */
static int level_end(struct chain_walk *w, int err, struct chain_level *out)
{
	if (err == 0)
		err = sets_take(w, out);
	for (size_t i = 0; i < w->sets.n; i++)
		w->slot[w->sets.v[i].frame] = 0;
	w->sets.n = w->items.n = 0;
	return err;
}

/* ---- where an entry's stacks begin ---- */

/* Nodes lie anywhere. */
static void node_prefetch(const struct chain_walk *w, uint32_t at)
{
	__builtin_prefetch(&w->hist->nodes[at]);
	__builtin_prefetch(&w->hist->sums[at]);
	__builtin_prefetch(&w->hist->links[at]);
}

/* The i-th of the entry at hand; one that is asked for soon is fetched. */
static uint32_t list_node(const struct chain_walk *w, size_t i)
{
	if (w->list->n - i > AHEAD)
		node_prefetch(w, w->list->v[i + AHEAD]);
	return w->list->v[i];
}

/* The nearest node above that belongs to the entry; there is one. */
static uint32_t entry_above(const struct chain_walk *w, uint32_t at)
{
	const uint32_t *class_of = w->hist->class_of;

	do
		at = parent_of(w, at);
	while (class_of[w->hist->nodes[at].frame] != class_of[w->entry->frame]);
	return at;
}

static int top_add(struct chain_walk *w, uint32_t node)
{
	uint32_t *top = vec_next(&w->tops);

	if (!top)
		return -ENOMEM;
	*top = node;
	return 0;
}

/* Adds a node's own samples to all above it; the outermost is an item once it has any. */
static int mark_up(struct chain_walk *w, uint32_t at)
{
	uint64_t self = self_of(w, at);
	uint32_t up = at, top = at;
	int err = 0;

	for (; up && err == 0; up = parent_of(w, up)) {
		err = chain_mark_add(&w->of_self, up, self);
		top = up;
	}
	return err == 0 && self && chain_mark(&w->of_self, top) == self ? top_add(w, top) : err;
}

static int cmp_tops(const void *pa, const void *pb)
{
	uint32_t a = *(const uint32_t *)pa, b = *(const uint32_t *)pb;

	return (a < b) - (a > b);
}

/* The items stand as the root's children do: the last one first. */
static int mark_self(struct chain_walk *w)
{
	int err = 0;

	w->tops.n = 0;
	for (size_t i = 0; i < w->list->n && err == 0; i++) {
		uint32_t at = list_node(w, i);

		if (link_of(w, at)->ends)
			err = mark_up(w, at);
	}
	if (w->tops.n)
		qsort(w->tops.v, w->tops.n, sizeof(*w->tops.v), cmp_tops);
	for (size_t i = 0; i < w->tops.n && err == 0; i++)
		err = item_add(w, w->tops.v[i], true, chain_mark(&w->of_self, w->tops.v[i]));
	return err;
}

static int begin_down(struct chain_walk *w)
{
	int err = mark_self(w);

	if (!w->hist->opts->children)
		return err;
	for (size_t i = 0; i < w->list->n && err == 0; i++) {
		uint32_t at = list_node(w, i);

		if (!link_of(w, at)->nested)
			err = item_add(w, at, false, total_of(w, at) - chain_mark(&w->of_self, at));
	}
	return err;
}

static int begin_up(struct chain_walk *w)
{
	bool children = w->hist->opts->children;
	int err = 0;

	/* What passes through a second place further in is counted there: `of_self` holds that. */
	for (size_t i = 0; i < w->list->n && children && err == 0; i++) {
		uint32_t at = list_node(w, i);

		if (link_of(w, at)->nested)
			err = chain_mark_add(&w->of_self, entry_above(w, at), total_of(w, at));
	}
	for (size_t i = 0; i < w->list->n && err == 0; i++) {
		uint32_t at = list_node(w, i);

		err = item_add(w, at, false,
			       children ? total_of(w, at) - chain_mark(&w->of_self, at) : self_of(w, at));
	}
	return err;
}

/* ---- the nodes of entries ---- */

static int list_step(const struct chain_walk *w, struct chain_list *l)
{
	uint32_t *slot = vec_next(l);

	if (!slot)
		return -ENOMEM;
	*slot = l->next;
	l->next = link_of(w, l->next)->same;
	return 0;
}

int chain_walk_fetch(struct chain_walk *w, const struct hist_entry *const *entries, size_t n)
{
	size_t left = n;

	for (size_t i = 0; i < n; i++) {
		w->lists[i].first = w->lists[i].next = entries[i]->nodes;
		w->lists[i].n = 0;
	}
	w->n_lists = 0;
	while (left) {
		left = 0;
		for (size_t i = 0; i < n; i++) {
			if (w->lists[i].next == HIST_NONE)
				continue;
			if (list_step(w, &w->lists[i]) < 0)
				return -ENOMEM;
			left++;
		}
	}
	w->n_lists = n;
	return 0;
}

/* The list that has them. */
static int list_find(struct chain_walk *w)
{
	for (w->list = w->lists; w->list < w->lists + w->n_lists; w->list++)
		if (w->list->first == w->entry->nodes)
			return 0;
	w->list = w->lists;
	return chain_walk_fetch(w, &w->entry, 1);
}

int chain_walk_begin(struct chain_walk *w, const struct hist_entry *e, struct chain_level *out)
{
	int err;

	w->entry = e;
	err = list_find(w);
	if (err == 0)
		err = w->caller ? begin_down(w) : begin_up(w);
	return level_end(w, err, out);
}

void chain_walk_end(struct chain_walk *w)
{
	chain_marks_clear(&w->of_self);
}

/* ---- the next level ---- */

static int step_down(struct chain_walk *w, const struct chain_item *it)
{
	uint32_t at, list;
	int err = 0;

	for (at = chain_below_first(&w->below, it->node, &list); at && err == 0;
	     at = chain_below_next(&w->below, &list)) {
		uint64_t marked = chain_mark(&w->of_self, at);

		err = item_add(w, at, it->of_self, it->of_self ? marked : total_of(w, at) - marked);
	}
	return err;
}

/* Below most nodes is the next one, of which a walk upwards knows nothing. */
int chain_walk_next(struct chain_walk *w, const struct chain_set *from, struct chain_level *out)
{
	int err = 0;

	for (size_t i = 0; i < from->n && err == 0; i++) {
		const struct chain_item *it = &from->v[i];
		uint32_t up = parent_of(w, it->node);

		if (from->n - i > AHEAD)
			node_prefetch(w, it[AHEAD].node + w->caller);
		if (w->caller)
			err = step_down(w, it);
		else if (up)
			err = item_add(w, up, false, it->weight);
	}
	return level_end(w, err, out);
}
