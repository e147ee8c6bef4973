/*
 * Sorting entries key by key: by each key only the entries that are equal in all keys before.
 */
#ifndef REPORT_SORT_BY_KEY_H
#define REPORT_SORT_BY_KEY_H

#include "report/name_ranks.h"
#include "report/number_sort.h"

enum { SORT_BY_DEPTH = TACHO_REPORT_KEYS_MAX, SORT_BY_ENTRY };	/* besides indices of keys */

/* Items are sorted by some columns; then equal() is called for each run of items that are equal in all of them. */
struct key_sort {
	const struct ranks *ranks;
	size_t columns[TACHO_REPORT_KEYS_MAX + 2];	/* indices of keys, or one of the above */
	size_t n_columns;
	bool one_group;			/* row keys are all equal */
	const uint32_t *entry_of;	/* per item; NULL: items are entries */
	const uint32_t *frame_of;	/* per item; NULL: the frame of its entry */
	struct keyed_item *v, *spare;	/* items */
	size_t reserved;		/* in each of both */
	int (*equal)(struct key_sort *s, size_t from, size_t n);	/* may be NULL */
	void *arg;
};

void key_sort_add_keys(struct key_sort *s, size_t from, size_t end);	/* the keys from .. end - 1 of the options */
/* The next column, from index `at` on, in which items may differ. */
size_t key_sort_next_column(const struct key_sort *s, size_t at);
/* The key of the column at that index; NULL: it is SORT_BY_DEPTH or SORT_BY_ENTRY. */
const struct column *key_sort_key(const struct key_sort *s, size_t at);
int key_sort_reserve(struct key_sort *s, size_t n);	/* v and spare are then empty; 0 or -ENOMEM */
/* Sorts the n items from v[from] on by the columns from index `at` on. 0, -ENOMEM, or what equal() returned. */
int key_sort_run(struct key_sort *s, size_t from, size_t n, size_t at);
int key_sort_list(struct key_sort *s, uint32_t *items, size_t n);	/* the same, of a list */
void key_sort_done(struct key_sort *s);

/* The number of an entry in a column; `frame` is the entry's. */
static inline uint64_t key_sort_number(const struct key_sort *s, const struct tacho_report_entry *e,
				       const struct tacho_profile_frame *frame, size_t column)
{
	const struct report *r = s->ranks->r;

	if (column == SORT_BY_DEPTH)
		return r->opts.caller ? ~(uint64_t)e->depth : e->depth;
	if (column == SORT_BY_ENTRY)
		return (uint64_t)(e - r->entries.v);
	return rank_of(s->ranks, e, frame, column);
}

/* ---- caller_order.c ---- */
/* Fills r->order by all keys; entries that are equal in the first n_above keys have callers first. 0 or -ENOMEM. */
int order_callers_first(struct ranks *k, size_t n_above);

#endif
