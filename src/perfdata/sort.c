/*
 * Sorts the queued records by time; the sort is stable. Records arrive as one ascending run per ring buffer, so
 * the runs are found and merged in pairs: n log(runs) steps, none of which reads the records themselves. The
 * entries left from the previous round are one run that hardly overlaps with the new ones.
 */
#include "perfdata/perfdata.h"

#include <errno.h>

static size_t run_end(const struct queued_record *v, size_t at, size_t n)
{
	do
		at++;
	while (at < n && v[at - 1].time <= v[at].time);
	return at;
}

size_t entries_until(const struct queued_record *v, size_t n, uint64_t time)
{
	size_t low = 0, high = n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (v[mid].time <= time)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

/* Merges v[0, na) and v[na, n) in place. Entries of the first run that are older than all of the second stay
 * where they are; the others are copied to `spare`. */
static void merge_runs(struct queued_record *v, size_t na, size_t n, struct queued_record *spare)
{
	size_t stay = entries_until(v, na, v[na].time);
	struct queued_record *out = v + stay;
	const struct queued_record *a = spare, *a_end = spare + (na - stay), *b = v + na, *b_end = v + n;

	memcpy(spare, out, (na - stay) * sizeof(*v));
	while (a < a_end && b < b_end) {
		bool second = b->time < a->time;
		const struct queued_record *from = second ? b : a;

		*out++ = *from;
		b += second;
		a += !second;
	}
	memcpy(out, a, (size_t)(a_end - a) * sizeof(*a));
}

/* Merges pairs of neighbouring runs; returns how many runs are left. */
static size_t merge_pass(struct queued_record *v, size_t n, struct queued_record *spare)
{
	size_t runs = 0;

	for (size_t at = 0; at < n; runs++) {
		size_t mid = run_end(v, at, n);
		size_t end = mid < n ? run_end(v, mid, n) : n;

		if (mid < end)
			merge_runs(v + at, mid - at, end - at, spare);
		at = end;
	}
	return runs;
}

void sort_entries(struct queued_record *v, size_t sorted, size_t n, struct queued_record *spare)
{
	if (sorted == n)
		return;
	while (merge_pass(v + sorted, n - sorted, spare) > 1)
		;
	if (sorted)
		merge_runs(v, sorted, n, spare);
}
