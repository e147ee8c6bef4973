/*
 * The order of the entries, key by key. Entries of one event are sorted by numbers (sort_by_key.c); reports of groups
 * of events are small, and their entries are compared.
 */
#include <errno.h>

#include "report/sort_by_key.h"

/* ---- by comparing ---- */

struct comparison {
	const struct report *r;
	uint64_t *numbers;		/* per entry: of each key, then thread and depth in one number */
	size_t stride;
	bool by_depth;
};

/* Where the deciding event leaves it open, the events in their order. */
static int compare_all_events(const struct report *r, const struct tacho_report_entry *a,
			      const struct tacho_report_entry *b, bool children)
{
	for (size_t i = 0; i < r->n_events; i++) {
		const struct tacho_report_sums *sa = report_sums(r, a, i), *sb = report_sums(r, b, i);
		int order = children ? compare_u64(sb->children, sa->children) : compare_u64(sb->self, sa->self);

		if (order)
			return order;
	}
	return 0;
}

/* Callers before what they call, within a thread. */
static int compare_depths(const struct comparison *c, uint64_t a, uint64_t b)
{
	if (!c->by_depth || a >> 32 != b >> 32)
		return 0;
	return c->r->opts.caller ? compare_u64(b, a) : compare_u64(a, b);
}

static int compare_entries(const void *pa, const void *pb, void *arg)
{
	const struct comparison *c = arg;
	const struct report *r = c->r;
	uint32_t ia = *(const uint32_t *)pa, ib = *(const uint32_t *)pb;
	const uint64_t *na = &c->numbers[ia * c->stride], *nb = &c->numbers[ib * c->stride];
	size_t n_keys = c->stride - 1;

	for (size_t i = 0; i < n_keys; i++) {
		enum tacho_report_column_id id = key_at(r, i)->pub.id;
		bool children = id == TACHO_COLUMN_CHILDREN;
		int order = compare_u64(na[i], nb[i]);

		if (order)
			return order;
		if (children || id == TACHO_COLUMN_OVERHEAD)
			order = compare_all_events(r, &r->entries.v[ia], &r->entries.v[ib], children);
		if (!order && children)
			order = compare_depths(c, na[n_keys], nb[n_keys]);
		if (order)
			return order;
	}
	return compare_u64(ia, ib);
}

static int order_by_comparing(struct ranks *k, bool by_depth)
{
	struct report *r = k->r;
	size_t n_keys = r->opts.n_keys;
	struct comparison c = { .r = r, .stride = n_keys + 1, .by_depth = by_depth };

	c.numbers = reallocarray(NULL, r->entries.n + 1, c.stride * sizeof(*c.numbers));
	if (!c.numbers)
		return -ENOMEM;
	for (size_t i = 0; i < r->n_order; i++) {
		const struct tacho_report_entry *e = &r->entries.v[r->order[i]];
		uint64_t *numbers = c.numbers + r->order[i] * c.stride;

		for (size_t key = 0; key < n_keys; key++)
			numbers[key] = rank_of(k, e, tacho_profile_frame(r->profile, e->frame), key);
		numbers[n_keys] = (uint64_t)r->groups.v[e->group].thread << 32 | e->depth;
	}
	qsort_r(r->order, r->n_order, sizeof(*r->order), compare_entries, &c);
	free(c.numbers);
	return 0;
}

/* ---- by numbers ---- */

static int order_by_keys(struct ranks *k)
{
	struct report *r = k->r;
	scoped(key_sort_done) struct key_sort s = { .ranks = k, .one_group = r->groups.n == 1 };

	key_sort_add_keys(&s, 0, r->opts.n_keys);
	return key_sort_list(&s, r->order, r->n_order);
}

/* ---- the report ---- */

static bool is_shown(const struct report *r, const struct tacho_report_entry *e)
{
	const struct tacho_profile_frame *f = tacho_profile_frame(r->profile, e->frame);

	return f && f->known && strstr(f->code->name, r->opts.symbol_filter);
}

static int order_ranked(struct ranks *k)
{
	const struct report *r = k->r;
	bool by_depth = r->opts.callgraphs && !r->opts.hidden_callgraphs;
	size_t n_above = 0;

	if (r->n_events > 1)
		return order_by_comparing(k, by_depth);
	for (size_t i = 0; i < r->opts.n_keys && by_depth; i++)
		if (key_at(r, i)->pub.id == TACHO_COLUMN_CHILDREN)
			n_above = i + 1;
	return n_above ? order_callers_first(k, n_above) : order_by_keys(k);
}

int report_order(struct report *r)
{
	scoped(ranks_done) struct ranks k = { 0 };

	free(r->order);			/* an earlier order */
	free(r->order_frames);
	free(r->repeats);
	r->order_frames = NULL;
	r->repeats = NULL;
	r->n_order = 0;
	r->order = reallocarray(NULL, r->entries.n + 1, sizeof(*r->order));
	if (!r->order)
		return -ENOMEM;
	for (size_t i = 0; i < r->entries.n; i++)
		if (!r->opts.symbol_filter || is_shown(r, &r->entries.v[i]))
			r->order[r->n_order++] = (uint32_t)i;
	return ranks_init(&k, r) < 0 ? -ENOMEM : order_ranked(&k);
}
