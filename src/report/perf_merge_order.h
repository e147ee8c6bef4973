/*
 * perf's order of entries of several threads.
 *
 * Among entries with equal overhead, perf puts callers before what they call, but compares depths only within a
 * thread; entries of different threads are compared by the next keys. That is not a consistent order: of three
 * entries, each may belong before the next. The order that perf prints is therefore the result of its merge sort.
 * This merge exists only to print such ties in perf's order, so that both outputs can be compared line by line;
 * to do that quickly it merges whole blocks:
 *
 *	places    all entries of one owner (thread), in the order between them; then those of the next owner
 *	blocks    neighbouring places that all entries of other owners compare alike to: by the rank of the block
 */
#ifndef REPORT_PERF_MERGE_ORDER_H
#define REPORT_PERF_MERGE_ORDER_H

#include "base/defs.h"

struct order_block {
	uint32_t from, end;		/* places */
	uint32_t owner;
	uint32_t rank;			/* equal ranks only within one owner */
	bool even;			/* for the caller: its entries have one group and equal values */
};

struct order_run {			/* neighbours of one owner in the order that is given */
	uint32_t end, owner;
};

struct perf_merge {
	uint32_t *order;		/* entries, ascending; becomes the places in the order they are shown */
	size_t n;
	const uint32_t *sorted;		/* entries by place */
	struct { struct order_run *v; size_t n, cap; } runs;
	struct { struct order_block *v; size_t n, cap; } blocks;
	const uint32_t *block_of;	/* per place */
	uint32_t *spare;		/* space for n */
};

/* 0 or -ENOMEM. */
int perf_merge(struct perf_merge *m);

#endif
