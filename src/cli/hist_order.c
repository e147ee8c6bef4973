/*
 * The order of the entries. A big recording has a million of them, most with equal values, so that
 * names decide: names are ranked once, and entries are then sorted by numbers alone. Those of a group
 * of events are few, and compared.
 */
#include "cli/hist.h"

#include <errno.h>

#include "cli/hist_sort.h"

struct ranks {
	struct hist *h;
	uint32_t *symbol;		/* per symbol id: place of its name */
	uint32_t *object;		/* per object id */
	uint32_t *group[HIST_KEYS_MAX];	/* per key: place of a group, or of a frame; NULL: numbers do */
	enum hist_column ranked;	/* the key at hand */
	bool by_frame;			/* it is ranked per frame */
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
	for (size_t i = 0; i < HIST_KEYS_MAX; i++)
		free(r->group[i]);
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

/* Of what rank() is asked to order: a group, or with `by_frame` a frame. */
static struct hist_entry entry_of(const struct ranks *r, uint32_t i)
{
	struct hist_entry e = { .frame = HIST_NONE };

	if (r->by_frame)
		e.frame = i;
	else
		e.group = i;
	return e;
}

static int cmp_by_key(const struct ranks *r, uint32_t a, uint32_t b)
{
	struct hist_entry ea = entry_of(r, a), eb = entry_of(r, b);

	return hist_key_cmp(r->h, r->ranked, &ea, &eb);
}

static int cmp_ranked(const void *pa, const void *pb, void *arg)
{
	uint32_t a = *(const uint32_t *)pa, b = *(const uint32_t *)pb;
	int c = cmp_by_key(arg, a, b);

	return c ? c : (a > b) - (a < b);
}

/* Keys whose values are no numbers to sort by: per group its place among the groups; for the texts
 * of source files and lines, per frame. */
static int rank(struct ranks *r, size_t key, bool by_frame)
{
	size_t n = by_frame ? tacho_profile_n_frames(r->h->profile) : r->h->groups.n;
	scoped(freep) uint32_t *v = reallocarray(NULL, n + 1, sizeof(*v));
	uint32_t *ranks = r->group[key] = calloc(n + 1, sizeof(*ranks));
	uint32_t at = 0;

	if (!v || !ranks)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		v[i] = (uint32_t)i;
	r->ranked = r->h->opts->keys[key];
	r->by_frame = by_frame;
	qsort_r(v, n, sizeof(*v), cmp_ranked, r);
	for (size_t i = 0; i < n; i++) {
		if (i && cmp_by_key(r, v[i - 1], v[i]) != 0)
			at++;
		ranks[v[i]] = at;
	}
	return 0;
}

static int rank_keys(struct ranks *r)
{
	for (size_t i = 0; i < r->h->opts->n_keys; i++) {
		enum hist_column key = r->h->opts->keys[i];
		int err = 0;

		if (key == COL_COMM || (key >= COL_FIRST_OF_DETAIL && key < COL_FIRST_OF_FRAME))
			err = rank(r, i, false);
		else if (key == COL_SRCLINE || key == COL_SRCFILE)
			err = rank(r, i, true);
		if (err < 0)
			return err;
	}
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

static uint64_t rank_of(const struct ranks *r, const struct hist_entry *e, size_t at)
{
	size_t first = r->h->opts->group_sort < r->h->n_events ? r->h->opts->group_sort : 0;
	enum hist_column key = r->h->opts->keys[at];

	if (key < COL_FIRST_KEY)
		return ~hist_value(r->h, e, key, first);
	if (key == COL_SRCLINE || key == COL_SRCFILE)
		return e->frame == HIST_NONE ? UINT64_MAX : r->group[at][e->frame];
	if (key >= COL_FIRST_OF_FRAME)
		return rank_of_frame(r, tacho_profile_frame(r->h->profile, e->frame), key);
	return r->group[at] ? r->group[at][e->group] : r->h->groups.v[e->group].v[at];
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

	if (!h->opts->hide_unresolved && !h->opts->symbol_filter)
		return true;
	f = tacho_profile_frame(h->profile, e->frame);
	return f && f->known && (!h->opts->symbol_filter || strstr(f->name, h->opts->symbol_filter));
}

/* All numbers of all entries, then by comparing. */
static int order_by_comparing(struct ranks *r)
{
	struct hist *h = r->h;
	size_t n_keys = h->opts->n_keys;

	r->of = reallocarray(NULL, h->entries.n + 1, r->stride * sizeof(*r->of));
	if (!r->of)
		return -ENOMEM;
	for (size_t i = 0; i < h->entries.n; i++) {
		const struct hist_entry *e = &h->entries.v[i];

		for (size_t k = 0; k < n_keys; k++)
			r->of[i * r->stride + k] = rank_of(r, e, k);
		r->of[i * r->stride + n_keys] = (uint64_t)h->groups.v[e->group].thread << 32 | e->depth;
	}
	qsort_r(h->order, h->n_order, sizeof(*h->order), cmp_entries, r);
	return 0;
}

#define AHEAD 16

static void sort_by_key(const struct ranks *r, struct hist_sort *s, size_t key)
{
	const struct hist *h = r->h;
	const struct hist_entry *v = h->entries.v;
	bool of_frame = h->opts->keys[key] >= COL_FIRST_OF_FRAME;

	for (size_t i = 0; i < h->entries.n; i++) {
		if (of_frame && i + AHEAD < h->entries.n)
			hist_frame_prefetch(h, v[i + AHEAD].frame);
		s->column[i] = rank_of(r, &v[i], key);
	}
	hist_sort_by_column(s);
}

/* The place of each entry by the first `n` keys, the same where all of these are equal. */
static int places_above(const struct ranks *r, struct hist_sort *s, size_t n, uint32_t *place)
{
	const struct hist *h = r->h;
	scoped(freep) uint32_t *by_one = reallocarray(NULL, h->entries.n + 1, sizeof(*by_one));

	if (!by_one)
		return -ENOMEM;
	memset(place, 0, h->entries.n * sizeof(*place));
	for (size_t k = 0; k < n; k++) {
		hist_sort_reset(s, h->order);
		sort_by_key(r, s, k);
		hist_sort_places(s, true, k ? by_one : place);
		if (!k)
			continue;
		for (size_t i = 0; i < h->n_order; i++)
			s->column[h->order[i]] = (uint64_t)place[h->order[i]] << 32 | by_one[h->order[i]];
		hist_sort_by_column(s);
		hist_sort_places(s, true, place);
	}
	return 0;
}

/* `s` has them by the keys after the first n_above, among which callers come first. */
static int order_callers(const struct ranks *r, struct hist_sort *s, size_t n_above)
{
	const struct hist *h = r->h;
	scoped(freep) struct hist_placed *v = reallocarray(NULL, h->n_order + 1, sizeof(*v));
	scoped(freep) uint32_t *place = reallocarray(NULL, h->entries.n + 1, sizeof(*place));
	scoped(freep) uint32_t *below = reallocarray(NULL, h->n_order + 1, sizeof(*below));

	if (!v || !place || !below)
		return -ENOMEM;
	hist_sort_places(s, false, place);
	for (size_t i = 0; i < h->n_order; i++) {
		const struct hist_entry *e = &h->entries.v[h->order[i]];

		below[i] = s->v[i].entry;
		v[i] = (struct hist_placed){ .lower = place[h->order[i]],
					     .owner = h->groups.v[e->group].thread,
					     .depth = h->opts->graph.caller ? ~e->depth : e->depth };
	}
	if (places_above(r, s, n_above, place) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < h->n_order; i++)
		v[i].upper = place[h->order[i]];
	hist_sort_placed(v, h->n_order, (struct hist_placed *)s->spare);
	for (size_t i = 0; i < h->n_order; i++)
		h->order[i] = below[v[i].lower];
	return 0;
}

static int order_by_numbers(struct ranks *r)
{
	struct hist *h = r->h;
	scoped(hist_sort_done) struct hist_sort s = { 0 };
	size_t n_above = 0;

	if (hist_sort_init(&s, h->entries.n, h->order, h->n_order) < 0)
		return -ENOMEM;
	for (size_t k = 0; k < h->opts->n_keys && r->by_depth; k++)
		if (h->opts->keys[k] == COL_CHILDREN)
			n_above = k + 1;
	for (size_t k = h->opts->n_keys; k-- > n_above;)
		sort_by_key(r, &s, k);
	if (n_above)
		return order_callers(r, &s, n_above);
	for (size_t i = 0; i < h->n_order; i++)
		h->order[i] = s.v[i].entry;
	return 0;
}

int hist_order(struct hist *h)
{
	scoped(ranks_done) struct ranks r = {
		.h = h, .stride = h->opts->n_keys + 1,
		.by_depth = h->opts->chains && h->opts->graph.style != GRAPH_NONE,
	};

	h->order = reallocarray(NULL, h->entries.n + 1, sizeof(*h->order));
	if (!h->order || rank_symbols(&r) < 0 || rank_objects(&r) < 0 || rank_keys(&r) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < h->entries.n; i++)
		if (is_shown(h, &h->entries.v[i]))
			h->order[h->n_order++] = (uint32_t)i;
	return h->n_events > 1 ? order_by_comparing(&r) : order_by_numbers(&r);
}
