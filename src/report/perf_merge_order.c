/*
 * The merge sort that decides perf's order of callers among several threads: see perf_merge_order.h for why it
 * exists. Its result depends on which halves are merged, so the same halves are merged here. But a half that
 * belongs to one owner is already in the order of the places, and where two owners meet, blocks move as a whole.
 */
#include "report/perf_merge_order.h"

#include <errno.h>
#include <string.h>

#include "base/vec.h"

#define NEAR 64

struct merge_leaf {			/* a part of the order that is not halved further: of one owner */
	uint32_t entry;			/* its first */
	uint32_t at;			/* where its next place is written */
};

struct merge_halves {
	struct perf_merge *given;
	struct { struct merge_leaf *v; size_t n, cap; } leaves;
	uint32_t *near;			/* see leaves_index() */
};

static void merge_done(struct merge_halves *m)
{
	vec_done(&m->leaves);
	free(m->near);
}

static size_t run_at(const struct perf_merge *c, size_t run, size_t at)
{
	while (c->runs.v[run].end <= at)
		run++;
	return run;
}

/* Finds the leaves of from .. end - 1; `run` is the run of `from`. */
static int leaves_find(struct merge_halves *m, size_t from, size_t end, size_t run)
{
	const struct order_run *r = &m->given->runs.v[run];
	size_t half = from + (end - from) / 2;
	struct merge_leaf *leaf;
	int err;

	if (r->end < end) {
		err = leaves_find(m, from, half, run);
		return err < 0 ? err : leaves_find(m, half, end, run_at(m->given, run, half));
	}
	leaf = vec_add(&m->leaves);
	if (!leaf)
		return -ENOMEM;
	*leaf = (struct merge_leaf){ m->given->order[from], (uint32_t)from };
	return 0;
}

/* Per NEAR entries, the leaf of the first of them: the leaf of any entry is not far from it. */
static int leaves_index(struct merge_halves *m)
{
	size_t n = m->given->order[m->given->n - 1] / NEAR + 1, leaf = 0;

	m->near = reallocarray(NULL, n, sizeof(*m->near));
	if (!m->near)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		while (leaf + 1 < m->leaves.n && m->leaves.v[leaf + 1].entry <= i * NEAR)
			leaf++;
		m->near[i] = (uint32_t)leaf;
	}
	return 0;
}

/* The last leaf that starts at the entry or before it. */
static struct merge_leaf *leaf_of(const struct merge_halves *m, uint32_t entry)
{
	struct merge_leaf *leaf = &m->leaves.v[m->near[entry / NEAR]], *last = &m->leaves.v[m->leaves.n - 1];

	while (leaf < last && leaf[1].entry <= entry)
		leaf++;
	return leaf;
}

/* From now on `order` has places. */
static void leaves_fill(struct merge_halves *m)
{
	const struct perf_merge *c = m->given;

	for (uint32_t place = 0; place < c->n; place++)
		c->order[leaf_of(m, c->sorted[place])->at++] = place;
}

static const struct order_block *block_at(const struct perf_merge *c, uint32_t place)
{
	return &c->blocks.v[c->block_of[place]];
}

/* Moves the places of the block that are less than `end`; returns how many. */
static size_t move_block(uint32_t *to, const uint32_t *v, size_t n, const struct order_block *b,
			 uint32_t end)
{
	size_t i = 0;

	do
		to[i] = v[i];
	while (++i < n && v[i] - b->from < end - b->from);
	return i;
}

static void merge_halves(const struct merge_halves *m, size_t from, size_t half, size_t end)
{
	uint32_t *v = m->given->order, *to = m->given->spare;
	size_t i = from, k = half, n;

	while (i < half && k < end) {
		const struct order_block *a = block_at(m->given, v[i]), *b = block_at(m->given, v[k]);
		bool alike = a->owner == b->owner;

		if (alike ? v[i] < v[k] : a->rank < b->rank) {
			n = move_block(to, v + i, half - i, a, alike ? min_of(a->end, v[k]) : a->end);
			i += n;
		} else {
			n = move_block(to, v + k, end - k, b, alike ? min_of(b->end, v[i]) : b->end);
			k += n;
		}
		to += n;
	}
	memcpy(to, v + i, (half - i) * sizeof(*v));
	to += half - i;
	memcpy(v + from, m->given->spare, (size_t)(to - m->given->spare) * sizeof(*v));
}

static void merge_all(const struct merge_halves *m, size_t from, size_t end, size_t run)
{
	size_t half = from + (end - from) / 2;

	if (m->given->runs.v[run].end >= end)
		return;
	merge_all(m, from, half, run);
	merge_all(m, half, end, run_at(m->given, run, half));
	merge_halves(m, from, half, end);
}

int perf_merge(struct perf_merge *given)
{
	scoped(merge_done) struct merge_halves m = { .given = given };
	int err;

	if (!given->n)
		return 0;
	err = leaves_find(&m, 0, given->n, 0);
	if (err == 0)
		err = leaves_index(&m);
	if (err < 0)
		return err;
	leaves_fill(&m);
	merge_all(&m, 0, given->n, 0);
	return 0;
}
