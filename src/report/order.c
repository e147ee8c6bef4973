/*
 * The order of the entries. A big recording has a million of them, most with equal values, so that
 * names decide: entries are sorted by numbers, key after key, and by each only those that are equal in
 * all before. Those of a group of events are few, and compared.
 */
#include "report/report.h"

#include <errno.h>

#include "report/sort_by_key.h"

/* ---- by comparing ---- */

struct compared {
	struct hist_ranks *r;
	uint64_t *of;			/* per entry: n_keys, and its thread and depth in one number */
	size_t stride;
	bool by_depth;
};

static int cmp_u64(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

/* The values of a group's other events. */
static int cmp_others(const struct hist *h, const struct hist_entry *a, const struct hist_entry *b,
		      enum hist_column key)
{
	for (size_t i = 0; i < h->n_events; i++) {
		const struct hist_stat *sa = hist_stat_of(h, a, i), *sb = hist_stat_of(h, b, i);
		int c = key == COL_CHILDREN ? cmp_u64(sb->acc, sa->acc) : cmp_u64(sb->self, sa->self);

		if (c)
			return c;
	}
	return 0;
}

/* Callers stand above what they call, where both have all of a thread's samples. */
static int cmp_depths(const struct compared *c, uint64_t a, uint64_t b)
{
	if (!c->by_depth || a >> 32 != b >> 32)
		return 0;
	return c->r->h->opts->graph.caller ? cmp_u64(b, a) : cmp_u64(a, b);
}

static int cmp_entries(const void *pa, const void *pb, void *arg)
{
	const struct compared *by = arg;
	const struct hist *h = by->r->h;
	uint32_t ia = *(const uint32_t *)pa, ib = *(const uint32_t *)pb;
	const uint64_t *ra = &by->of[ia * by->stride], *rb = &by->of[ib * by->stride];
	size_t n_keys = by->stride - 1;

	for (size_t i = 0; i < n_keys; i++) {
		enum hist_column key = h->opts->keys[i];
		int c = cmp_u64(ra[i], rb[i]);

		if (c)
			return c;
		if (key == COL_CHILDREN || key == COL_OVERHEAD)
			c = cmp_others(h, &h->entries.v[ia], &h->entries.v[ib], key);
		if (!c && key == COL_CHILDREN)
			c = cmp_depths(by, ra[n_keys], rb[n_keys]);
		if (c)
			return c;
	}
	return cmp_u64(ia, ib);
}

/* All numbers of all entries, then by comparing. */
static int order_by_comparing(struct hist_ranks *r, bool by_depth)
{
	struct hist *h = r->h;
	size_t n_keys = h->opts->n_keys;
	struct compared by = { .r = r, .stride = n_keys + 1, .by_depth = by_depth };

	by.of = reallocarray(NULL, h->entries.n + 1, by.stride * sizeof(*by.of));
	if (!by.of)
		return -ENOMEM;
	for (size_t i = 0; i < h->n_order; i++) {
		const struct hist_entry *e = &h->entries.v[h->order[i]];
		uint64_t *of = by.of + h->order[i] * by.stride;

		for (size_t k = 0; k < n_keys; k++)
			of[k] = hist_rank_of(r, e, tacho_profile_frame(h->profile, e->frame), k);
		of[n_keys] = (uint64_t)h->groups.v[e->group].thread << 32 | e->depth;
	}
	qsort_r(h->order, h->n_order, sizeof(*h->order), cmp_entries, &by);
	free(by.of);
	return 0;
}

/* ---- by numbers ---- */

static int order_by_keys(struct hist_ranks *r)
{
	struct hist *h = r->h;
	scoped(hist_refine_done) struct hist_refine f = { .r = r, .one_group = h->groups.n == 1 };

	hist_refine_by(&f, 0, h->opts->n_keys);
	return hist_refine_list(&f, h->order, h->n_order);
}

/* ---- all of it ---- */

static bool is_shown(const struct hist *h, const struct hist_entry *e)
{
	const struct tacho_profile_frame *f = tacho_profile_frame(h->profile, e->frame);

	return f && f->known && strstr(f->code->name, h->opts->symbol_filter);
}

static int order_ranked(struct hist_ranks *r)
{
	const struct hist_opts *o = r->h->opts;
	bool by_depth = o->chains && o->graph.style != GRAPH_NONE;
	size_t n_above = 0;

	if (r->h->n_events > 1)
		return order_by_comparing(r, by_depth);
	for (size_t k = 0; k < o->n_keys && by_depth; k++)
		if (o->keys[k] == COL_CHILDREN)
			n_above = k + 1;
	return n_above ? hist_order_callers(r, n_above) : order_by_keys(r);
}

int hist_order(struct hist *h)
{
	scoped(hist_ranks_done) struct hist_ranks r = { 0 };

	free(h->order_frame);		/* of another order */
	free(h->order_again);
	h->order_frame = NULL;
	h->order_again = NULL;
	h->order = reallocarray(NULL, h->entries.n + 1, sizeof(*h->order));
	if (!h->order)
		return -ENOMEM;
	for (size_t i = 0; i < h->entries.n; i++)
		if (!h->opts->symbol_filter || is_shown(h, &h->entries.v[i]))
			h->order[h->n_order++] = (uint32_t)i;
	return hist_ranks_init(&r, h) < 0 ? -ENOMEM : order_ranked(&r);
}
