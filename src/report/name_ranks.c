/*
 * Names -> ranks. A big recording has a million entries with few different names: each name is looked at once, for
 * its rank and for the width of its column.
 */
#include "report/name_ranks.h"

#include <errno.h>

struct named_id {
	const char *name;
	uint32_t id;
};

struct shown_names {			/* of the entries that are shown */
	uint64_t *frames;		/* bits */
	bool *objects;
	struct { struct named_id *v; size_t n, cap; } symbols;
};

static void shown_names_done(struct shown_names *s)
{
	free(s->frames);
	free(s->objects);
	vec_done(&s->symbols);
}

void ranks_done(struct ranks *k)
{
	vec_done(&k->symbol);
	free(k->object);
	for (size_t i = 0; i < TACHO_REPORT_KEYS_MAX; i++)
		free(k->of_key[i]);
}

static int compare_names(const void *pa, const void *pb)
{
	return strcmp(((const struct named_id *)pa)->name, ((const struct named_id *)pb)->name);
}

/* Equal names have equal ranks. */
static void rank_names(struct named_id *v, size_t n, uint32_t *rank)
{
	uint32_t at = 0;

	if (n)
		qsort(v, n, sizeof(*v), compare_names);
	for (size_t i = 0; i < n; i++) {
		if (i && strcmp(v[i - 1].name, v[i].name) != 0)
			at++;
		rank[v[i].id] = at;
	}
}

/* Marks the frames and groups of the entries that are shown. */
static int mark_entries(struct report *r, struct shown_names *s)
{
	uint32_t group = NONE;

	s->frames = calloc(tacho_profile_n_frames(r->profile) / 64 + 1, sizeof(*s->frames));
	s->objects = calloc(tacho_profile_n_objects(r->profile) + 1, sizeof(*s->objects));
	if (!s->frames || !s->objects)
		return -ENOMEM;
	for (size_t g = 0; g < r->groups.n; g++)
		r->groups.v[g].shown = false;
	r->symbol_width = r->object_width = 0;
	for (size_t i = 0; i < r->n_order; i++) {
		const struct tacho_report_entry *e = &r->entries.v[r->order[i]];

		if (e->group != group)
			r->groups.v[e->group].shown = true;
		group = e->group;
		if (e->frame != NONE) {
			s->frames[e->frame / 64] |= 1ULL << e->frame % 64;
			continue;
		}
		r->symbol_width = max_of(r->symbol_width, symbol_width(NULL));
		r->object_width = max_of(r->object_width, object_width(r, NULL));
	}
	return 0;
}

/* Symbol ids are dense, but their number is not known beforehand. */
static int mark_symbol(struct ranks *k, struct shown_names *s, const struct tacho_profile_frame *f)
{
	struct named_id *name;

	while (k->symbol.n <= f->code->symbol)
		if (!vec_add(&k->symbol))
			return -ENOMEM;
	if (k->symbol.v[f->code->symbol])
		return 0;
	k->symbol.v[f->code->symbol] = 1;
	name = vec_next(&s->symbols);
	if (!name)
		return -ENOMEM;
	*name = (struct named_id){ f->code->name, f->code->symbol };
	k->r->symbol_width = max_of(k->r->symbol_width, symbol_width(f));
	return 0;
}

static int mark_frames(struct ranks *k, struct shown_names *s)
{
	struct report *r = k->r;
	const struct tacho_profile_frame *unknown = NULL;	/* any frame without a symbol */
	size_t n = tacho_profile_n_frames(r->profile);

	for (size_t i = 0; i < n; i++) {
		const struct tacho_profile_frame *f;

		if (!(s->frames[i / 64] >> i % 64 & 1))
			continue;
		f = tacho_profile_frame(r->profile, i);
		s->objects[f->code->object] = true;
		if (!f->known)
			unknown = f;
		else if (mark_symbol(k, s, f) < 0)
			return -ENOMEM;
	}
	if (unknown) {
		r->symbol_width = max_of(r->symbol_width, symbol_width(unknown));
		r->object_width = max_of(r->object_width, object_width(r, unknown));
	}
	return 0;
}

static int rank_objects(struct ranks *k, const struct shown_names *s)
{
	struct report *r = k->r;
	size_t n = tacho_profile_n_objects(r->profile);
	scoped(freep) struct named_id *v = reallocarray(NULL, n + 1, sizeof(*v));

	k->object = calloc(n + 1, sizeof(*k->object));
	if (!k->object || !v)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		v[i] = (struct named_id){ tacho_profile_object(r->profile, i)->name, (uint32_t)i };
		if (s->objects[i])
			r->object_width = max_of(r->object_width, strlen(r->opts.verbose ?
				tacho_profile_object(r->profile, i)->path : v[i].name));
	}
	rank_names(v, n, k->object);
	return 0;
}

/* ---- keys that columns compare ---- */

struct key_order {
	const struct report *r;
	const struct column *column;
};

static int compare_by_key(const struct key_order *o, uint32_t a, uint32_t b)
{
	struct tacho_report_entry ea = { .group = a, .frame = NONE }, eb = { .group = b, .frame = NONE };

	if (is_frame_key(o->column)) {
		ea = (struct tacho_report_entry){ .frame = a };
		eb = (struct tacho_report_entry){ .frame = b };
	}
	return cell_compare(o->r, o->column, &ea, &eb);
}

static int compare_ranked(const void *pa, const void *pb, void *arg)
{
	uint32_t a = *(const uint32_t *)pa, b = *(const uint32_t *)pb;
	int order = compare_by_key(arg, a, b);

	return order ? order : (a > b) - (a < b);
}

/* The rank of each group, or of each frame for a frame key. */
static int rank_key(struct ranks *k, size_t key)
{
	struct key_order o = { k->r, key_at(k->r, key) };
	size_t n = is_frame_key(o.column) ? tacho_profile_n_frames(k->r->profile) : k->r->groups.n;
	scoped(freep) uint32_t *v = reallocarray(NULL, n + 1, sizeof(*v));
	uint32_t *ranks = k->of_key[key] = calloc(n + 1, sizeof(*ranks));
	uint32_t at = 0;

	if (!v || !ranks)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		v[i] = (uint32_t)i;
	qsort_r(v, n, sizeof(*v), compare_ranked, &o);
	for (size_t i = 0; i < n; i++) {
		if (i && compare_by_key(&o, v[i - 1], v[i]) != 0)
			at++;
		ranks[v[i]] = at;
	}
	return 0;
}

static int rank_keys(struct ranks *k)
{
	int err = 0;

	for (size_t i = 0; i < k->r->opts.n_keys && err == 0; i++) {
		const struct column *c = key_at(k->r, i);

		if (c->compare && c->pub.id != TACHO_COLUMN_DSO && c->pub.id != TACHO_COLUMN_SYMBOL)
			err = rank_key(k, i);
	}
	return err;
}

int ranks_init(struct ranks *k, struct report *r)
{
	scoped(shown_names_done) struct shown_names s = { 0 };

	*k = (struct ranks){ .r = r };
	if (mark_entries(r, &s) < 0 || mark_frames(k, &s) < 0 || rank_objects(k, &s) < 0)
		return -ENOMEM;
	rank_names(s.symbols.v, s.symbols.n, k->symbol.v);
	return rank_keys(k);
}
