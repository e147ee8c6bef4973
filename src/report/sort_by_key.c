/*
 * Entries by keys, as numbers. A big recording has a million entries, most with equal values, so that
 * names decide; but few keys are looked at for most of them.
 */
#include "report/sort_by_key.h"

#include <errno.h>

#define AHEAD 16

static const struct hist_entry *entry_of(const struct hist_refine *f, uint32_t item)
{
	return &f->r->h->entries.v[f->entry_of ? f->entry_of[item] : item];
}

static uint32_t frame_of(const struct hist_refine *f, uint32_t item)
{
	return f->frame_of ? f->frame_of[item] : entry_of(f, item)->frame;
}

bool hist_refine_is_key(const struct hist_refine *f, size_t at, enum hist_column first, enum hist_column end)
{
	size_t c = f->columns[at];

	return c < HIST_KEYS_MAX && f->r->h->opts->keys[c] >= first && f->r->h->opts->keys[c] < end;
}

static bool is_short(const struct hist_refine *f, size_t at)
{
	return f->columns[at] >= HIST_KEYS_MAX || hist_rank_is_short(f->r, f->columns[at]);
}

size_t hist_refine_next(const struct hist_refine *f, size_t at)
{
	while (f->one_group && at < f->n_columns && hist_refine_is_key(f, at, COL_FIRST_KEY, COL_FIRST_OF_FRAME))
		at++;
	return at;
}

static bool is_name(const struct hist_refine *f, size_t at)
{
	return hist_refine_is_key(f, at, COL_DSO, COL_FIRST_OF_TEXTS);
}

/* Where both columns, or the only one, are names: the frame is looked up once. */
static void fill_names(const struct hist_refine *f, struct hist_keyed *v, size_t n, bool two,
		       enum hist_column high, enum hist_column key)
{
	const struct tacho_profile *p = f->r->h->profile;

	for (size_t i = 0; i < n; i++) {
		const struct tacho_profile_frame *frame = tacho_profile_frame(p, frame_of(f, v[i].item));

		if (n - i > 2 * AHEAD && !f->frame_of)
			__builtin_prefetch(entry_of(f, v[i + 2 * AHEAD].item));
		if (n - i > AHEAD)
			hist_frame_prefetch(f->r->h, frame_of(f, v[i + AHEAD].item));
		v[i].high = two ? (uint32_t)hist_rank_of_frame(f->r, frame, high) : 0;
		v[i].key = hist_rank_of_frame(f->r, frame, key);
	}
}

/* A short column and the one that follows are sorted by together. Returns the next. */
static size_t fill(struct hist_refine *f, size_t from, size_t n, size_t at)
{
	struct hist_keyed *v = f->v + from;
	size_t second = hist_refine_next(f, at + 1);
	bool two = is_short(f, at) && second < f->n_columns;
	size_t high = f->columns[at], key = two ? f->columns[second] : high;

	if (is_name(f, at) && (!two || is_name(f, second))) {
		fill_names(f, v, n, two, f->r->h->opts->keys[high], f->r->h->opts->keys[key]);
		return two ? second + 1 : at + 1;
	}
	for (size_t i = 0; i < n; i++) {
		const struct hist_entry *e = entry_of(f, v[i].item);
		const struct tacho_profile_frame *frame = tacho_profile_frame(f->r->h->profile, e->frame);

		v[i].high = two ? (uint32_t)hist_refine_number(f, e, frame, high) : 0;
		v[i].key = hist_refine_number(f, e, frame, key);
	}
	return two ? second + 1 : at + 1;
}

int hist_refine(struct hist_refine *f, size_t from, size_t n, size_t at)
{
	const struct hist_keyed *v = f->v;
	size_t end = from + n, to;
	int err = 0;

	at = hist_refine_next(f, at);
	if (n < 2 || at == f->n_columns)
		return f->equal && n ? f->equal(f, from, n) : 0;
	at = fill(f, from, n, at);
	hist_sort_keyed(f->v + from, n, f->spare);
	if (at == f->n_columns && !f->equal)
		return 0;
	for (; from < end && err == 0; from = to) {
		for (to = from + 1; to < end && v[to].key == v[from].key && v[to].high == v[from].high;)
			to++;
		err = hist_refine(f, from, to - from, at);
	}
	return err;
}

int hist_refine_room(struct hist_refine *f, size_t n)
{
	if (n <= f->room)
		return 0;
	free(f->v);
	free(f->spare);
	f->v = reallocarray(NULL, n, sizeof(*f->v));
	f->spare = reallocarray(NULL, n, sizeof(*f->spare));
	f->room = f->v && f->spare ? n : 0;
	return f->room ? 0 : -ENOMEM;
}

void hist_refine_done(struct hist_refine *f)
{
	free(f->v);
	free(f->spare);
}

/* `items` in their new order. */
int hist_refine_list(struct hist_refine *f, uint32_t *items, size_t n)
{
	int err;

	if (hist_refine_room(f, n) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		f->v[i].item = items[i];
	err = hist_refine(f, 0, n, 0);
	for (size_t i = 0; i < n; i++)
		items[i] = f->v[i].item;
	return err;
}

void hist_refine_by(struct hist_refine *f, size_t from, size_t end)
{
	for (size_t k = from; k < end; k++)
		f->columns[f->n_columns++] = k;
}
