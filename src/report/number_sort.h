/*
 * How entries are sorted: by numbers alone.
 *
 * hist_sort_keyed() is stable and sorts by one or two of them. The order in which callers stand above
 * what they call is no such order: depths count within one owner only, so that three entries may each
 * be due before the next. hist_merge() has, for that, what merging halves of halves makes of
 * them, but merges whole blocks:
 *
 *	places    all of one owner by all that counts between these, then those of the next owner
 *	blocks    neighbours among these that all others' entries see alike: by the block's rank
 */
#ifndef REPORT_NUMBER_SORT_H
#define REPORT_NUMBER_SORT_H

#include "base/defs.h"

struct hist_keyed {
	uint64_t key;
	uint32_t high;			/* counts more than `key` */
	uint32_t item;
};

/* `spare` has room for as many. */
void hist_sort_keyed(struct hist_keyed *v, size_t n, struct hist_keyed *spare);

struct hist_block {
	uint32_t from, end;		/* places */
	uint32_t owner;
	uint32_t rank;			/* blocks of different owners have different ones */
	bool even;			/* for the caller: its items look alike */
};

struct hist_run {			/* of the order that is given: neighbours of one owner */
	uint32_t end, owner;
};

struct hist_merge {
	uint32_t *order;		/* items, ascending; becomes the places in the order they are shown */
	size_t n;
	const uint32_t *sorted;		/* items by place */
	struct { struct hist_run *v; size_t n, cap; } runs;
	struct { struct hist_block *v; size_t n, cap; } blocks;
	const uint32_t *block_of;	/* per place */
	uint32_t *spare;		/* room for n */
};

/* 0 or -ENOMEM. */
int hist_merge(struct hist_merge *c);

#endif
