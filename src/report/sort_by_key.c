/*
 * Entries by keys, as numbers. A big recording has a million entries, most with equal values, so that names decide;
 * but for most entries few keys are looked at.
 */
#include "report/sort_by_key.h"

#include <errno.h>

#define AHEAD 16

static const struct tacho_report_entry *entry_of(const struct key_sort *s, uint32_t item)
{
	return &s->ranks->r->entries.v[s->entry_of ? s->entry_of[item] : item];
}

static uint32_t frame_of(const struct key_sort *s, uint32_t item)
{
	return s->frame_of ? s->frame_of[item] : entry_of(s, item)->frame;
}

const struct column *key_sort_key(const struct key_sort *s, size_t at)
{
	return s->columns[at] < TACHO_REPORT_KEYS_MAX ? key_at(s->ranks->r, s->columns[at]) : NULL;
}

static bool is_short(const struct key_sort *s, size_t at)
{
	return s->columns[at] >= TACHO_REPORT_KEYS_MAX || rank_is_short(s->ranks, s->columns[at]);
}

size_t key_sort_next_column(const struct key_sort *s, size_t at)
{
	while (s->one_group && at < s->n_columns && key_sort_key(s, at) && is_row_key(key_sort_key(s, at)))
		at++;
	return at;
}

/* The id of a column that is an object or a symbol, else TACHO_COLUMN_OTHER. */
static enum tacho_report_column_id name_id(const struct key_sort *s, size_t at)
{
	const struct column *c = key_sort_key(s, at);
	enum tacho_report_column_id id = c ? c->pub.id : TACHO_COLUMN_OTHER;

	return id == TACHO_COLUMN_DSO || id == TACHO_COLUMN_SYMBOL ? id : TACHO_COLUMN_OTHER;
}

static inline uint64_t rank_of_name(const struct key_sort *s, const struct tacho_profile_frame *f,
				    enum tacho_report_column_id id)
{
	return id == TACHO_COLUMN_DSO ? rank_of_object(s->ranks, f) : rank_of_symbol(s->ranks, f);
}

/* If both columns, or the only one, are names, each frame is looked up once. high: TACHO_COLUMN_OTHER if there is
 * only one. */
static void fill_names(const struct key_sort *s, struct keyed_item *v, size_t n,
		       enum tacho_report_column_id high,
		       enum tacho_report_column_id low)
{
	const struct report *r = s->ranks->r;

	for (size_t i = 0; i < n; i++) {
		const struct tacho_profile_frame *f = tacho_profile_frame(r->profile, frame_of(s, v[i].item));

		if (n - i > 2 * AHEAD && !s->frame_of)
			__builtin_prefetch(entry_of(s, v[i + 2 * AHEAD].item));
		if (n - i > AHEAD)
			frame_prefetch(r, frame_of(s, v[i + AHEAD].item));
		v[i].high = high ? (uint32_t)rank_of_name(s, f, high) : 0;
		v[i].low = rank_of_name(s, f, low);
	}
}

/* Fills in the numbers of the column at that index, together with the next one if the first is short. Returns the
 * index after them. */
static size_t fill(struct key_sort *s, size_t from, size_t n, size_t at)
{
	struct keyed_item *v = s->v + from;
	size_t second = key_sort_next_column(s, at + 1);
	bool two = is_short(s, at) && second < s->n_columns;
	size_t low_at = two ? second : at;

	if (name_id(s, at) && name_id(s, low_at)) {
		fill_names(s, v, n, two ? name_id(s, at) : TACHO_COLUMN_OTHER, name_id(s, low_at));
		return low_at + 1;
	}
	for (size_t i = 0; i < n; i++) {
		const struct tacho_report_entry *e = entry_of(s, v[i].item);
		const struct tacho_profile_frame *f = tacho_profile_frame(s->ranks->r->profile, e->frame);

		v[i].high = two ? (uint32_t)key_sort_number(s, e, f, s->columns[at]) : 0;
		v[i].low = key_sort_number(s, e, f, s->columns[low_at]);
	}
	return low_at + 1;
}

int key_sort_run(struct key_sort *s, size_t from, size_t n, size_t at)
{
	const struct keyed_item *v = s->v;
	size_t end = from + n, to;
	int err = 0;

	at = key_sort_next_column(s, at);
	if (n < 2 || at == s->n_columns)
		return s->equal && n ? s->equal(s, from, n) : 0;
	at = fill(s, from, n, at);
	sort_keyed_items(s->v + from, n, s->spare);
	if (at == s->n_columns && !s->equal)
		return 0;
	for (; from < end && err == 0; from = to) {
		for (to = from + 1; to < end && v[to].low == v[from].low && v[to].high == v[from].high;)
			to++;
		err = key_sort_run(s, from, to - from, at);
	}
	return err;
}

int key_sort_reserve(struct key_sort *s, size_t n)
{
	if (n <= s->reserved)
		return 0;
	free(s->v);
	free(s->spare);
	s->v = reallocarray(NULL, n, sizeof(*s->v));
	s->spare = reallocarray(NULL, n, sizeof(*s->spare));
	s->reserved = s->v && s->spare ? n : 0;
	return s->reserved ? 0 : -ENOMEM;
}

void key_sort_done(struct key_sort *s)
{
	free(s->v);
	free(s->spare);
}

int key_sort_list(struct key_sort *s, uint32_t *items, size_t n)
{
	int err;

	if (key_sort_reserve(s, n) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		s->v[i].item = items[i];
	err = key_sort_run(s, 0, n, 0);
	for (size_t i = 0; i < n; i++)
		items[i] = s->v[i].item;
	return err;
}

void key_sort_add_keys(struct key_sort *s, size_t from, size_t end)
{
	for (size_t k = from; k < end; k++)
		s->columns[s->n_columns++] = k;
}
