/*
 * Sorting of what waits, by time and stable. Records come as one ascending run per ring that was
 * drained, so the runs are found and merged pairwise: n log(runs) steps, and none of them looks
 * at a record's bytes.
 */
#include "perfdata/perfdata.h"

#include <errno.h>

static size_t run_end(const struct entry *v, size_t at, size_t n)
{
	do
		at++;
	while (at < n && v[at - 1].time <= v[at].time);
	return at;
}

static void merge(struct entry *out, const struct entry *a, size_t na, const struct entry *b,
		  size_t nb)
{
	const struct entry *a_end = a + na, *b_end = b + nb;

	while (a < a_end && b < b_end) {
		bool second = b->time < a->time;
		const struct entry *from = second ? b : a;

		*out++ = *from;
		b += second;
		a += !second;
	}
	memcpy(out, a, (size_t)(a_end - a) * sizeof(*a));
	memcpy(out + (a_end - a), b, (size_t)(b_end - b) * sizeof(*b));
}

/* Merges neighbours of `from` into `to`; returns how many runs are left. */
static size_t merge_pass(struct entry *to, const struct entry *from, size_t n)
{
	size_t runs = 0;

	for (size_t at = 0; at < n; runs++) {
		size_t mid = run_end(from, at, n);
		size_t end = mid < n ? run_end(from, mid, n) : n;

		merge(to + at, from + at, mid - at, from + mid, end - mid);
		at = end;
	}
	return runs;
}

void sort_entries(struct entry *v, size_t n, struct entry *spare)
{
	struct entry *from = v, *to = spare;

	if (n == 0 || run_end(v, 0, n) == n)
		return;
	while (merge_pass(to, from, n) > 1) {
		struct entry *done = to;

		to = from;
		from = done;
	}
	if (to != v)
		memcpy(v, to, n * sizeof(*v));
}
