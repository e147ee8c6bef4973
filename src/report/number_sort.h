/*
 * A stable sort of items by one or two numbers.
 */
#ifndef REPORT_NUMBER_SORT_H
#define REPORT_NUMBER_SORT_H

#include "base/defs.h"

struct keyed_item {
	uint64_t low;
	uint32_t high;			/* counts more than `low` */
	uint32_t item;
};

/* `spare` has space for n items. */
void sort_keyed_items(struct keyed_item *v, size_t n, struct keyed_item *spare);

#endif
