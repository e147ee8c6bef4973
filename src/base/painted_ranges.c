/*
 * A sweep over the ranges by start. The ranges that cover the current address are a heap with the last added one on top;
 * ranges that have ended below the top are removed when they get there.
 */
#include "base/painted_ranges.h"

#include <errno.h>
#include <stdlib.h>

struct sweep {
	const struct painted_range *ranges;
	uint32_t *heap;			/* indexes of ranges, the largest first */
	size_t n;
	struct painted_table *out;
};

int painted_ranges_add(struct painted_ranges *r, uint64_t start, uint64_t end, uint32_t value)
{
	struct painted_range *slot;

	if (end <= start)
		return 0;
	slot = r->n < UINT32_MAX ? vec_next(r) : NULL;
	if (!slot)
		return -ENOMEM;
	*slot = (struct painted_range){ start, end, value };
	return 0;
}

static void heap_push(struct sweep *s, uint32_t index)
{
	size_t at = s->n++;

	for (; at && s->heap[(at - 1) / 2] < index; at = (at - 1) / 2)
		s->heap[at] = s->heap[(at - 1) / 2];
	s->heap[at] = index;
}

static void heap_pop(struct sweep *s)
{
	uint32_t last = s->heap[--s->n];
	size_t at = 0, child;

	while ((child = 2 * at + 1) < s->n) {
		child += child + 1 < s->n && s->heap[child + 1] > s->heap[child];
		if (s->heap[child] < last)
			break;
		s->heap[at] = s->heap[child];
		at = child;
	}
	s->heap[at] = last;
}

static int put_row(struct sweep *s, uint64_t start)
{
	uint32_t value = s->n ? s->ranges[s->heap[0]].value : PAINTED_NONE;
	struct painted_table *t = s->out;
	struct painted_row *row;

	if (t->n && t->v[t->n - 1].start == start)
		t->n--;
	if (t->n && t->v[t->n - 1].value == value)
		return 0;
	row = vec_next(t);
	if (!row)
		return -ENOMEM;
	*row = (struct painted_row){ start, value };
	return 0;
}

/* Ends all ranges that end at or before `address`. */
static int sweep_to(struct sweep *s, uint64_t address)
{
	while (s->n && s->ranges[s->heap[0]].end <= address) {
		uint64_t end = s->ranges[s->heap[0]].end;

		while (s->n && s->ranges[s->heap[0]].end <= end)
			heap_pop(s);
		if (put_row(s, end) < 0)
			return -ENOMEM;
	}
	return 0;
}

static int cmp_starts(const void *pa, const void *pb, void *arg)
{
	const struct painted_range *v = arg;
	uint32_t a = *(const uint32_t *)pa, b = *(const uint32_t *)pb;

	if (v[a].start != v[b].start)
		return v[a].start < v[b].start ? -1 : 1;
	return (a > b) - (a < b);
}

static int sweep_all(struct sweep *s, const uint32_t *order, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		uint64_t start = s->ranges[order[i]].start;

		if (sweep_to(s, start) < 0)
			return -ENOMEM;
		heap_push(s, order[i]);
		if (put_row(s, start) < 0)
			return -ENOMEM;
	}
	return sweep_to(s, UINT64_MAX);
}

int painted_table_fill(struct painted_table *t, const struct painted_ranges *r)
{
	uint32_t *order = reallocarray(NULL, r->n + 1, 2 * sizeof(*order));
	struct sweep s = { .ranges = r->v, .out = t };
	int err;

	if (!order)
		return -ENOMEM;
	s.heap = order + r->n;
	for (size_t i = 0; i < r->n; i++)
		order[i] = (uint32_t)i;
	if (r->n)
		qsort_r(order, r->n, sizeof(*order), cmp_starts, r->v);
	err = sweep_all(&s, order, r->n);
	free(order);
	return err;
}

/* The index of the first row after an address. */
static size_t next_row(const struct painted_table *t, uint64_t address)
{
	size_t low = 0, high = t->n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (t->v[mid].start <= address)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

struct painted_range painted_table_around(const struct painted_table *t, uint64_t address)
{
	size_t next = next_row(t, address);

	return (struct painted_range){
		.start = next ? t->v[next - 1].start : 0, .end = next < t->n ? t->v[next].start : UINT64_MAX,
		.value = next ? t->v[next - 1].value : PAINTED_NONE,
	};
}

uint32_t painted_table_find(const struct painted_table *t, uint64_t address)
{
	size_t next = next_row(t, address);

	return next ? t->v[next - 1].value : PAINTED_NONE;
}
