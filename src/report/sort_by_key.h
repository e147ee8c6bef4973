/*
 * Sorting entries key by key: by each only those that are equal in all before.
 */
#ifndef REPORT_SORT_BY_KEY_H
#define REPORT_SORT_BY_KEY_H

#include "report/name_ranks.h"
#include "report/number_sort.h"

enum { HIST_BY_DEPTH = HIST_KEYS_MAX, HIST_BY_ENTRY };	/* besides the keys */

/* Items are sorted by some columns, then whatever is equal in all of them is handed on. */
struct hist_refine {
	const struct hist_ranks *r;
	size_t columns[HIST_KEYS_MAX + 2];	/* indices of keys, or one of the above */
	size_t n_columns;
	bool one_group;			/* keys of a row are all the same */
	const uint32_t *entry_of;	/* per item; NULL: items are entries */
	const uint32_t *frame_of;	/* per item; NULL: as its entry has it */
	struct hist_keyed *v, *spare;	/* items */
	size_t room;
	int (*equal)(struct hist_refine *f, size_t from, size_t n);	/* may be NULL */
	void *arg;
};

void hist_refine_by(struct hist_refine *f, size_t from, size_t end);	/* the keys of h->opts from .. end */
/* The next column, from `at` on, in which items may differ. */
size_t hist_refine_next(const struct hist_refine *f, size_t at);
/* Whether the column is a key from `first` up to, but without, `end`. */
bool hist_refine_is_key(const struct hist_refine *f, size_t at, enum hist_column first, enum hist_column end);
int hist_refine_room(struct hist_refine *f, size_t n);	/* in v and spare, which are then empty */
/* Sorts v[from] and the n - 1 behind it by the columns from `at` on. 0, -ENOMEM, or what equal() says. */
int hist_refine(struct hist_refine *f, size_t from, size_t n, size_t at);
int hist_refine_list(struct hist_refine *f, uint32_t *items, size_t n);	/* the same, with a list */
void hist_refine_done(struct hist_refine *f);

/* The number of an entry in a column; `frame` is the entry's. */
static inline uint64_t hist_refine_number(const struct hist_refine *f, const struct hist_entry *e,
					  const struct tacho_profile_frame *frame, size_t column)
{
	const struct hist *h = f->r->h;

	if (column == HIST_BY_DEPTH)
		return h->opts->graph.caller ? ~e->depth : e->depth;
	if (column == HIST_BY_ENTRY)
		return (uint64_t)(e - h->entries.v);
	return hist_rank_of(f->r, e, frame, column);
}

/* ---- report/caller_order.c ---- */
/* h->order by all keys; among those with equal ones up to the first n_above, callers first. 0 or -ENOMEM. */
int hist_order_callers(struct hist_ranks *r, size_t n_above);

#endif
