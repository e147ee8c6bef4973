/*
 * Sums by key, as the map `sums` of views.bpf.c, in the order in which keys came.
 */
#ifndef VIEW_SUM_TABLE_H
#define VIEW_SUM_TABLE_H

#include "base/arena.h"
#include "base/map.h"
#include "base/vec.h"
#include "bpf/view_program.h"

struct keyed_sum {
	const struct view_key *key;
	struct view_sum sum;
};

struct sum_table {
	struct { struct keyed_sum *v; size_t n, cap; } sums;
	struct map by_key;		/* index in sums */
	struct arena keys;
};

void sum_table_done(struct sum_table *t);
/* The sum of a key, added as zero if it is new and there are fewer than `max`. NULL: there is no room, or no memory. */
struct view_sum *sum_table_get(struct sum_table *t, const struct view_key *key, size_t max);

#endif
