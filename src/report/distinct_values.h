/*
 * Counts items by combinations of numbers: a million entries may have a few thousand combinations of values.
 *
 *	clear -> add, add ... -> v[0 .. n - 1], the combinations that were added
 */
#ifndef REPORT_DISTINCT_VALUES_H
#define REPORT_DISTINCT_VALUES_H

#include "base/defs.h"

#define DISTINCT_NUMBERS 4

struct distinct_value {
	uint64_t numbers[DISTINCT_NUMBERS];
	uint32_t first;			/* its first item */
	uint32_t n;			/* how many items it has */
	bool mixed;			/* its items differ in the number that was noted */
	uint64_t noted;			/* of the first item; not part of the combination */
};

struct distinct_values {
	struct distinct_value *v;
	size_t n, cap;
	uint32_t *slots;		/* a hash table: index in v + 1; 0: free */
	size_t n_slots;			/* a power of two */
	size_t n_collisions;		/* since it was cleared: a file may be made so that its numbers collide */
};

int distinct_values_clear(struct distinct_values *k, size_t n);	/* before up to n items are added; 0 or -ENOMEM */
void distinct_values_done(struct distinct_values *k);
/* Adds a combination that is not there, at its slot. Returns its index, or -ENOMEM. */
int64_t distinct_values_new(struct distinct_values *k, size_t slot, const uint64_t *numbers, uint32_t item);

static inline bool distinct_value_is(const struct distinct_value *k, const uint64_t *numbers)
{
	uint64_t differ = 0;

	for (size_t i = 0; i < DISTINCT_NUMBERS; i++)
		differ |= k->numbers[i] ^ numbers[i];
	return !differ;
}

/* The slot of the numbers, or the free one where they would be. */
static inline size_t distinct_values_slot(struct distinct_values *k, const uint64_t *numbers)
{
	uint64_t hash = numbers[0] * 0x9e3779b97f4a7c15 + numbers[1] * 0xc2b2ae3d27d4eb4f +
			numbers[2] * 0x165667b19e3779f9 + numbers[3] * 0x27d4eb2f165667c5;
	size_t mask = k->n_slots - 1, at = (hash ^ hash >> 32) & mask;

	while (k->slots[at] && !distinct_value_is(&k->v[k->slots[at] - 1], numbers)) {
		at = (at + 1) & mask;
		k->n_collisions++;
	}
	return at;
}

/* Compares a further number of the items. */
static inline void distinct_value_note(struct distinct_value *k, uint64_t number)
{
	if (k->n == 1)
		k->noted = number;
	k->mixed |= k->noted != number;
}

/* Counts the item; returns the index of its combination, or -ENOMEM. */
static inline int64_t distinct_values_add(struct distinct_values *k, const uint64_t *numbers, uint32_t item)
{
	size_t at = distinct_values_slot(k, numbers);
	uint32_t known = k->slots[at];

	if (!known)
		return distinct_values_new(k, at, numbers, item);
	k->v[known - 1].n++;
	return known - 1;
}

#endif
