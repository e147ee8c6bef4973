/*
 * Sorting entries by columns of numbers: stable, digit by digit, only over the bits in which they
 * differ. A million entries take a few passes over memory instead of twenty million comparisons.
 */
#include "cli/hist_sort.h"

#include <errno.h>

#define DIGIT_BITS 11
#define DIGITS (1u << DIGIT_BITS)

int hist_sort_init(struct hist_sort *s, size_t n_entries, const uint32_t *entries, size_t n)
{
	*s = (struct hist_sort){ .n = n, .n_entries = n_entries };
	s->column = reallocarray(NULL, n_entries + 1, sizeof(*s->column));
	s->v = reallocarray(NULL, n + 1, sizeof(*s->v));
	s->spare = reallocarray(NULL, n + 1, sizeof(*s->spare));
	if (!s->column || !s->v || !s->spare) {
		hist_sort_done(s);
		return -ENOMEM;
	}
	hist_sort_reset(s, entries);
	return 0;
}

void hist_sort_done(struct hist_sort *s)
{
	free(s->column);
	free(s->v);
	free(s->spare);
	*s = (struct hist_sort){ 0 };
}

void hist_sort_reset(struct hist_sort *s, const uint32_t *entries)
{
	for (size_t i = 0; i < s->n; i++)
		s->v[i].entry = entries[i];
}

static void sort_by_digit(struct hist_sort *s, unsigned shift)
{
	size_t at[DIGITS] = { 0 }, sum = 0;
	struct hist_keyed *from = s->v;

	for (size_t i = 0; i < s->n; i++)
		at[from[i].key >> shift & (DIGITS - 1)]++;
	for (size_t d = 0; d < DIGITS; d++) {
		size_t n = at[d];

		at[d] = sum;
		sum += n;
	}
	for (size_t i = 0; i < s->n; i++)
		s->spare[at[from[i].key >> shift & (DIGITS - 1)]++] = from[i];
	s->v = s->spare;
	s->spare = from;
}

void hist_sort_by_column(struct hist_sort *s)
{
	uint64_t differ = 0;

	for (size_t i = 0; i < s->n; i++) {
		s->v[i].key = s->column[s->v[i].entry];
		differ |= s->v[i].key ^ s->v[0].key;
	}
	for (unsigned shift = 0; shift < 64 && differ >> shift;) {
		if (!(differ >> shift & 1)) {
			shift++;
			continue;
		}
		sort_by_digit(s, shift);
		shift += DIGIT_BITS;
	}
}

void hist_sort_places(const struct hist_sort *s, bool equal, uint32_t *place)
{
	uint32_t at = 0;

	for (size_t i = 0; i < s->n; i++) {
		if (i && (!equal || s->v[i].key != s->v[i - 1].key))
			at++;
		place[s->v[i].entry] = at;
	}
}

/* Whether a comes behind b, without a branch that the processor would have to guess. */
static bool is_behind(const struct hist_placed *a, const struct hist_placed *b)
{
	bool alike = (a->upper == b->upper) & (a->owner == b->owner);
	uint64_t of_a = (uint64_t)(alike ? a->depth : a->upper) << 32 | a->lower;
	uint64_t of_b = (uint64_t)(alike ? b->depth : b->upper) << 32 | b->lower;

	return of_a > of_b;
}

void hist_sort_placed(struct hist_placed *v, size_t n, struct hist_placed *spare)
{
	size_t left = n / 2, i = 0, k = left, at = 0;

	if (n < 2)
		return;
	hist_sort_placed(v, left, spare);
	hist_sort_placed(v + left, n - left, spare);
	while (i < left && k < n) {
		bool behind = is_behind(&v[i], &v[k]);

		spare[at++] = v[behind ? k : i];
		k += behind;
		i += !behind;
	}
	memcpy(spare + at, v + i, (left - i) * sizeof(*v));
	memcpy(v, spare, (at + left - i) * sizeof(*v));
}
