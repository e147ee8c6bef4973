/*
 * Items of the same few numbers: a million entries may have some thousand combinations of values.
 *
 *	clear -> add, add ... -> v[kind] of the n kinds that came
 */
#ifndef REPORT_DISTINCT_VALUES_H
#define REPORT_DISTINCT_VALUES_H

#include "base/defs.h"

#define HIST_KIND_NUMBERS 4

struct hist_kind {
	uint64_t numbers[HIST_KIND_NUMBERS];
	uint32_t first;			/* item */
	uint32_t n;			/* items of it */
	bool mixed;			/* they differ in `also` */
	uint64_t also;			/* a number that makes no kind: of the first */
};

struct hist_kinds {
	struct hist_kind *v;
	size_t n, cap;
	uint32_t *slots;		/* kind + 1; 0: none */
	size_t n_slots;			/* a power of two */
	size_t n_met;			/* slots that others had, since it was cleared: a file may be made so
					 * that its numbers meet */
};

int hist_kinds_clear(struct hist_kinds *k, size_t n);	/* for up to n items; 0 or -ENOMEM */
void hist_kinds_done(struct hist_kinds *k);
/* A kind that has not come before, for its slot. */
int64_t hist_kinds_new(struct hist_kinds *k, size_t slot, const uint64_t *numbers, uint32_t item);

static inline bool hist_kind_is(const struct hist_kind *k, const uint64_t *numbers)
{
	uint64_t differ = 0;

	for (size_t i = 0; i < HIST_KIND_NUMBERS; i++)
		differ |= k->numbers[i] ^ numbers[i];
	return !differ;
}

/* Where the numbers are, or would be. */
static inline size_t hist_kinds_slot(struct hist_kinds *k, const uint64_t *numbers)
{
	uint64_t hash = numbers[0] * 0x9e3779b97f4a7c15 + numbers[1] * 0xc2b2ae3d27d4eb4f +
			numbers[2] * 0x165667b19e3779f9 + numbers[3] * 0x27d4eb2f165667c5;
	size_t mask = k->n_slots - 1, at = (hash ^ hash >> 32) & mask;

	while (k->slots[at] && !hist_kind_is(&k->v[k->slots[at] - 1], numbers)) {
		at = (at + 1) & mask;
		k->n_met++;
	}
	return at;
}

static inline void hist_kind_note(struct hist_kind *k, uint64_t also)
{
	if (k->n == 1)
		k->also = also;
	k->mixed |= k->also != also;
}

/* Counts the item; returns its kind, or -ENOMEM. */
static inline int64_t hist_kinds_add(struct hist_kinds *k, const uint64_t *numbers, uint32_t item)
{
	size_t at = hist_kinds_slot(k, numbers);
	uint32_t kind = k->slots[at];

	if (!kind)
		return hist_kinds_new(k, at, numbers, item);
	k->v[kind - 1].n++;
	return kind - 1;
}

#endif
