/*
 * Overlapping ranges of addresses, flattened to a sorted table: where several ranges overlap, the one that was added last
 * wins. A function is added before the functions inlined into it, so that the table has the innermost one of each address.
 *
 *	added	|------ f ------|		table	|f |g |f  |none
 *		   |- g -|
 */
#ifndef BASE_PAINTED_RANGES_H
#define BASE_PAINTED_RANGES_H

#include "base/vec.h"

#define PAINTED_NONE UINT32_MAX

struct painted_range {
	uint64_t start, end;		/* end is exclusive */
	uint32_t value;
};

struct painted_ranges {
	struct painted_range *v;
	size_t n, cap;
};

struct painted_row {			/* up to the start of the next row */
	uint64_t start;
	uint32_t value;			/* PAINTED_NONE: no range covers it */
};

struct painted_table {
	struct painted_row *v;
	size_t n, cap;
};

/* Adds a range, unless it is empty or backward. 0 or -ENOMEM. */
int painted_ranges_add(struct painted_ranges *r, uint64_t start, uint64_t end, uint32_t value);
/* Fills an empty table. 0 or -ENOMEM. */
int painted_table_fill(struct painted_table *t, const struct painted_ranges *r);
/* The addresses around `address` that have the same value; .value is PAINTED_NONE where no range was. */
struct painted_range painted_table_around(const struct painted_table *t, uint64_t address);
/* The value at an address, or PAINTED_NONE. */
uint32_t painted_table_find(const struct painted_table *t, uint64_t address);

#endif
