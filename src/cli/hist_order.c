/*
 * The order of the entries. A big recording has a million of them, most with equal values, so that
 * names decide: names are ranked once, and entries then compare by numbers alone.
 */
#include "cli/hist.h"

#include <errno.h>

struct ranks {
	struct hist *h;
	uint32_t *symbol;		/* per symbol id: place of its name */
	uint32_t *object;		/* per object id */
	uint32_t *group;		/* per group: place of its comm */
	uint64_t *of;			/* per entry: n_keys, and its thread and depth in one number */
	size_t stride;
	bool by_depth;
};

struct named {
	const char *name;
	uint32_t id;
};

static void ranks_done(struct ranks *r)
{
	free(r->symbol);
	free(r->object);
	free(r->group);
	free(r->of);
}

static int cmp_named(const void *pa, const void *pb)
{
	return strcmp(((const struct named *)pa)->name, ((const struct named *)pb)->name);
}

/* Equal names get equal ranks. */
static void rank_names(struct named *v, size_t n, uint32_t *rank)
{
	uint32_t at = 0;

	qsort(v, n, sizeof(*v), cmp_named);
	for (size_t i = 0; i < n; i++) {
		if (i && strcmp(v[i - 1].name, v[i].name) != 0)
			at++;
		rank[v[i].id] = at;
	}
}

static int rank_symbols(struct ranks *r)
{
	const struct tacho_profile *p = r->h->profile;
	size_t n_frames = tacho_profile_n_frames(p), most = 0, n = 0;
	scoped(freep) struct named *v = NULL;

	for (size_t i = 0; i < n_frames; i++)
		most = max_of(most, (size_t)tacho_profile_frame(p, i)->symbol);
	r->symbol = calloc(most + 1, sizeof(*r->symbol));
	v = reallocarray(NULL, most + 1, sizeof(*v));
	if (!r->symbol || !v)
		return -ENOMEM;
	for (size_t i = 0; i < n_frames; i++) {
		const struct tacho_profile_frame *f = tacho_profile_frame(p, i);

		if (!f->known || r->symbol[f->symbol])
			continue;
		r->symbol[f->symbol] = 1;
		v[n++] = (struct named){ f->name, f->symbol };
	}
	rank_names(v, n, r->symbol);
	return 0;
}

static int rank_objects(struct ranks *r)
{
	size_t n = tacho_profile_n_objects(r->h->profile);
	scoped(freep) struct named *v = reallocarray(NULL, n + 1, sizeof(*v));

	r->object = calloc(n + 1, sizeof(*r->object));
	if (!r->object || !v)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		v[i] = (struct named){ tacho_profile_object(r->h->profile, i)->name, (uint32_t)i };
	rank_names(v, n, r->object);
	return 0;
}

static int rank_groups(struct ranks *r)
{
	size_t n = r->h->groups.n;
	scoped(freep) struct named *v = reallocarray(NULL, n + 1, sizeof(*v));

	r->group = calloc(n + 1, sizeof(*r->group));
	if (!r->group || !v)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		uint32_t thread = r->h->groups.v[i].thread;

		v[i] = (struct named){ tacho_profile_thread(r->h->profile, thread)->comm, (uint32_t)i };
	}
	rank_names(v, n, r->group);
	return 0;
}

/* What has no name comes last: by its address. */
static uint64_t rank_of_frame(const struct ranks *r, const struct tacho_profile_frame *f,
			      enum hist_column key)
{
	if (!f)
		return UINT64_MAX;
	if (key == COL_DSO)
		return f->object ? r->object[f->object] : UINT32_MAX;
	return f->known ? r->symbol[f->symbol] : (1ULL << 63 | f->offset >> 1);
}

static uint64_t rank_of(const struct ranks *r, const struct hist_entry *e, enum hist_column key)
{
	size_t first = r->h->opts->group_sort < r->h->n_events ? r->h->opts->group_sort : 0;
	const struct hist_stat *s = hist_stat_of(r->h, e, first);

	switch (key) {
	case COL_CHILDREN:
		return ~s->acc;
	case COL_OVERHEAD:
	case COL_PERIOD:
		return ~s->self;
	case COL_SAMPLES:
		return ~s->samples;
	case COL_COMM:
		return r->group[e->group];
	case COL_DSO:
	case COL_SYMBOL:
		return rank_of_frame(r, tacho_profile_frame(r->h->profile, e->frame), key);
	default:
		return r->h->groups.v[e->group].v[hist_key_index(r->h, key)];
	}
}

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
static int cmp_depths(const struct ranks *r, uint64_t a, uint64_t b)
{
	if (!r->by_depth || a >> 32 != b >> 32)
		return 0;
	return r->h->opts->graph.caller ? cmp_u64(b, a) : cmp_u64(a, b);
}

static int cmp_entries(const void *pa, const void *pb, void *arg)
{
	const struct ranks *r = arg;
	const struct hist *h = r->h;
	uint32_t ia = *(const uint32_t *)pa, ib = *(const uint32_t *)pb;
	const uint64_t *ra = &r->of[ia * r->stride], *rb = &r->of[ib * r->stride];
	size_t n_keys = r->stride - 1;

	for (size_t i = 0; i < n_keys; i++) {
		enum hist_column key = h->opts->keys[i];
		int c = cmp_u64(ra[i], rb[i]);

		if (c)
			return c;
		if (h->n_events > 1 && (key == COL_CHILDREN || key == COL_OVERHEAD))
			c = cmp_others(h, &h->entries.v[ia], &h->entries.v[ib], key);
		if (!c && key == COL_CHILDREN)
			c = cmp_depths(r, ra[n_keys], rb[n_keys]);
		if (c)
			return c;
	}
	return cmp_u64(ia, ib);
}

static bool is_shown(const struct hist *h, const struct hist_entry *e)
{
	const struct tacho_profile_frame *f;

	if (!h->opts->hide_unresolved)
		return true;
	f = tacho_profile_frame(h->profile, e->frame);
	return f && f->known;
}

int hist_order(struct hist *h)
{
	size_t n_keys = h->opts->n_keys;
	scoped(ranks_done) struct ranks r = {
		.h = h, .stride = n_keys + 1,
		.by_depth = h->opts->chains && h->opts->graph.style != GRAPH_NONE,
	};

	h->order = reallocarray(NULL, h->entries.n + 1, sizeof(*h->order));
	r.of = reallocarray(NULL, h->entries.n + 1, r.stride * sizeof(*r.of));
	if (!h->order || !r.of || rank_symbols(&r) < 0 || rank_objects(&r) < 0 || rank_groups(&r) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < h->entries.n; i++) {
		const struct hist_entry *e = &h->entries.v[i];

		for (size_t k = 0; k < n_keys; k++)
			r.of[i * r.stride + k] = rank_of(&r, e, h->opts->keys[k]);
		r.of[i * r.stride + n_keys] = (uint64_t)h->groups.v[e->group].thread << 32 | e->depth;
		if (is_shown(h, &h->entries.v[i]))
			h->order[h->n_order++] = (uint32_t)i;
	}
	qsort_r(h->order, h->n_order, sizeof(*h->order), cmp_entries, &r);
	return 0;
}
