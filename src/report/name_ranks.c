/*
 * Names -> ranks. A big recording has a million entries whose names are few: each is looked at once,
 * for its place among the others and for the width of its column.
 */
#include "report/name_ranks.h"

#include <errno.h>

struct named {
	const char *name;
	uint32_t id;
};

/* What the entries that are shown have. */
struct seen {
	uint64_t *frames;		/* bits */
	bool *objects;
	struct { struct named *v; size_t n, cap; } symbols;
};

static void seen_done(struct seen *s)
{
	free(s->frames);
	free(s->objects);
	vec_done(&s->symbols);
}

void hist_ranks_done(struct hist_ranks *r)
{
	vec_done(&r->symbol);
	free(r->object);
	for (size_t i = 0; i < HIST_KEYS_MAX; i++)
		free(r->of[i]);
}

static int cmp_named(const void *pa, const void *pb)
{
	return strcmp(((const struct named *)pa)->name, ((const struct named *)pb)->name);
}

/* Equal names get equal ranks. */
static void rank_names(struct named *v, size_t n, uint32_t *rank)
{
	uint32_t at = 0;

	if (n)
		qsort(v, n, sizeof(*v), cmp_named);
	for (size_t i = 0; i < n; i++) {
		if (i && strcmp(v[i - 1].name, v[i].name) != 0)
			at++;
		rank[v[i].id] = at;
	}
}

/* The frames and groups of what is shown. */
static int see_entries(struct hist *h, struct seen *s)
{
	uint32_t group = HIST_NONE;

	s->frames = calloc(tacho_profile_n_frames(h->profile) / 64 + 1, sizeof(*s->frames));
	s->objects = calloc(tacho_profile_n_objects(h->profile) + 1, sizeof(*s->objects));
	if (!s->frames || !s->objects)
		return -ENOMEM;
	for (size_t g = 0; g < h->groups.n; g++)
		h->groups.v[g].shown = false;
	h->symbol_width = h->object_width = 0;
	for (size_t i = 0; i < h->n_order; i++) {
		const struct hist_entry *e = &h->entries.v[h->order[i]];

		if (e->group != group)
			h->groups.v[e->group].shown = true;
		group = e->group;
		if (e->frame != HIST_NONE) {
			s->frames[e->frame / 64] |= 1ULL << e->frame % 64;
			continue;
		}
		h->symbol_width = max_of(h->symbol_width, hist_key_width(h, e, COL_SYMBOL));
		h->object_width = max_of(h->object_width, hist_key_width(h, e, COL_DSO));
	}
	return 0;
}

/* Ids are small numbers; how small, the frames tell. */
static int symbol_see(struct hist_ranks *r, struct seen *s, const struct tacho_profile_frame *f)
{
	struct named *name;

	while (r->symbol.n <= f->code->symbol)
		if (!vec_add(&r->symbol))
			return -ENOMEM;
	if (r->symbol.v[f->code->symbol])
		return 0;
	r->symbol.v[f->code->symbol] = 1;
	name = vec_next(&s->symbols);
	if (!name)
		return -ENOMEM;
	*name = (struct named){ f->code->name, f->code->symbol };
	r->h->symbol_width = max_of(r->h->symbol_width, hist_symbol_width(f));
	return 0;
}

static int see_frames(struct hist_ranks *r, struct seen *s)
{
	struct hist *h = r->h;
	const struct tacho_profile_frame *unknown = NULL;	/* any of them */
	size_t n = tacho_profile_n_frames(h->profile);

	for (size_t i = 0; i < n; i++) {
		const struct tacho_profile_frame *f;

		if (!(s->frames[i / 64] >> i % 64 & 1))
			continue;
		f = tacho_profile_frame(h->profile, i);
		s->objects[f->code->object] = true;
		if (!f->known)
			unknown = f;
		else if (symbol_see(r, s, f) < 0)
			return -ENOMEM;
	}
	if (unknown) {
		h->symbol_width = max_of(h->symbol_width, hist_symbol_width(unknown));
		h->object_width = max_of(h->object_width, hist_object_width(h, unknown));
	}
	return 0;
}

static int rank_objects(struct hist_ranks *r, const struct seen *s)
{
	struct hist *h = r->h;
	size_t n = tacho_profile_n_objects(h->profile);
	scoped(freep) struct named *v = reallocarray(NULL, n + 1, sizeof(*v));

	r->object = calloc(n + 1, sizeof(*r->object));
	if (!r->object || !v)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		v[i] = (struct named){ tacho_profile_object(h->profile, i)->name, (uint32_t)i };
		if (s->objects[i])
			h->object_width = max_of(h->object_width, strlen(v[i].name));
	}
	rank_names(v, n, r->object);
	return 0;
}

/* Of what rank() is asked to order: a group, or with `by_frame` a frame. */
static struct hist_entry entry_of(const struct hist_ranks *r, uint32_t i)
{
	struct hist_entry e = { .frame = HIST_NONE };

	if (r->by_frame)
		e.frame = i;
	else
		e.group = i;
	return e;
}

static int cmp_by_key(const struct hist_ranks *r, uint32_t a, uint32_t b)
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
static int rank(struct hist_ranks *r, size_t key, bool by_frame)
{
	size_t n = by_frame ? tacho_profile_n_frames(r->h->profile) : r->h->groups.n;
	scoped(freep) uint32_t *v = reallocarray(NULL, n + 1, sizeof(*v));
	uint32_t *ranks = r->of[key] = calloc(n + 1, sizeof(*ranks));
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

static int rank_keys(struct hist_ranks *r)
{
	for (size_t i = 0; i < r->h->opts->n_keys; i++) {
		enum hist_column key = r->h->opts->keys[i];
		int err = 0;

		if (key == COL_COMM || key == COL_COMM_NODIGIT || key == COL_PARENT ||
		    (key >= COL_FIRST_OF_DETAIL && key < COL_FIRST_OF_FRAME))
			err = rank(r, i, false);
		else if (key >= COL_FIRST_OF_TEXTS)
			err = rank(r, i, true);
		if (err < 0)
			return err;
	}
	return 0;
}

bool hist_rank_is_short(const struct hist_ranks *r, size_t key)
{
	return r->of[key] || r->h->opts->keys[key] == COL_DSO;
}

int hist_ranks_init(struct hist_ranks *r, struct hist *h)
{
	scoped(seen_done) struct seen s = { 0 };

	*r = (struct hist_ranks){ .h = h };
	if (see_entries(h, &s) < 0 || see_frames(r, &s) < 0 || rank_objects(r, &s) < 0)
		return -ENOMEM;
	rank_names(s.symbols.v, s.symbols.n, r->symbol.v);
	return rank_keys(r);
}
