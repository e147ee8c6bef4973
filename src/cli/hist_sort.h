/*
 * How entries are sorted: by columns of numbers, the last column first.
 *
 *	fill s.column, hist_sort_by_column() ... for each; then s.v[i].entry are in order
 *
 * The order in which callers stand is no such order: depths count within one thread only. There,
 * what comes before and after the depth becomes one number each, and hist_sort_placed() merges.
 */
#ifndef CLI_HIST_SORT_H
#define CLI_HIST_SORT_H

#include "cli/hist.h"

struct hist_keyed {
	uint64_t key;
	uint32_t entry;
};

struct hist_sort {
	uint64_t *column;		/* per entry: the number to sort by next */
	struct hist_keyed *v, *spare;
	size_t n, n_entries;
};

int hist_sort_init(struct hist_sort *s, size_t n_entries, const uint32_t *entries, size_t n);
void hist_sort_done(struct hist_sort *s);
/* Back to that order. */
void hist_sort_reset(struct hist_sort *s, const uint32_t *entries);
/* Stable: what is equal stays in the order of the columns before. */
void hist_sort_by_column(struct hist_sort *s);
/* Per entry its place in the order; with `equal` those of equal numbers have one. */
void hist_sort_places(const struct hist_sort *s, bool equal, uint32_t *place);

struct hist_placed {
	uint32_t upper, lower;		/* places by the keys before and after the depth */
	uint32_t owner, depth;		/* depth counts between those of one owner and one upper place */
};

/* `spare` has room for as many. */
void hist_sort_placed(struct hist_placed *v, size_t n, struct hist_placed *spare);

#endif
