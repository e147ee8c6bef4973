/*
 * Callers above what they call, as merging halves has it. Which of two goes first is no order (see
 * report/number_sort.h), so that the result hangs on which halves are merged: these are kept. But a half that is
 * one owner's alone is in the order of the places, and where two owners meet, a block moves as a whole.
 */
#include "report/number_sort.h"

#include <errno.h>
#include <string.h>

#include "base/vec.h"

#define NEAR 64

struct leaf {				/* a part of the order, not halved further: one owner's */
	uint32_t item;			/* its first */
	uint32_t at;			/* where its next place goes */
};

struct halves {
	struct hist_merge *c;
	struct { struct leaf *v; size_t n, cap; } leaves;
	uint32_t *near;
};

static void halves_done(struct halves *m)
{
	vec_done(&m->leaves);
	free(m->near);
}

static size_t run_at(const struct hist_merge *c, size_t run, size_t at)
{
	while (c->runs.v[run].end <= at)
		run++;
	return run;
}

/* `run` is that of `from`. */
static int leaves_find(struct halves *m, size_t from, size_t end, size_t run)
{
	const struct hist_run *r = &m->c->runs.v[run];
	size_t half = from + (end - from) / 2;
	struct leaf *leaf;
	int err;

	if (r->end < end) {
		err = leaves_find(m, from, half, run);
		return err < 0 ? err : leaves_find(m, half, end, run_at(m->c, run, half));
	}
	leaf = vec_add(&m->leaves);
	if (!leaf)
		return -ENOMEM;
	*leaf = (struct leaf){ m->c->order[from], (uint32_t)from };
	return 0;
}

/* Per so many items the leaf of the first of them, so that the leaf of any is not far. */
static int leaves_index(struct halves *m)
{
	size_t n = m->c->order[m->c->n - 1] / NEAR + 1, leaf = 0;

	m->near = reallocarray(NULL, n, sizeof(*m->near));
	if (!m->near)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		while (leaf + 1 < m->leaves.n && m->leaves.v[leaf + 1].item <= i * NEAR)
			leaf++;
		m->near[i] = (uint32_t)leaf;
	}
	return 0;
}

/* The last leaf that starts at the item or before. */
static struct leaf *leaf_of(const struct halves *m, uint32_t item)
{
	struct leaf *leaf = &m->leaves.v[m->near[item / NEAR]], *last = &m->leaves.v[m->leaves.n - 1];

	while (leaf < last && leaf[1].item <= item)
		leaf++;
	return leaf;
}

/* From here on `order` has places. */
static void leaves_fill(struct halves *m)
{
	const struct hist_merge *c = m->c;

	for (uint32_t place = 0; place < c->n; place++)
		c->order[leaf_of(m, c->sorted[place])->at++] = place;
}

static const struct hist_block *block_at(const struct hist_merge *c, uint32_t place)
{
	return &c->blocks.v[c->block_of[place]];
}

/* Moves what is in the block, up to the place `end`; returns how many. */
static size_t move_block(uint32_t *to, const uint32_t *v, size_t n, const struct hist_block *b, uint32_t end)
{
	size_t i = 0;

	do
		to[i] = v[i];
	while (++i < n && v[i] - b->from < end - b->from);
	return i;
}

static void merge_halves(const struct halves *m, size_t from, size_t half, size_t end)
{
	uint32_t *v = m->c->order, *to = m->c->spare;
	size_t i = from, k = half, n;

	while (i < half && k < end) {
		const struct hist_block *a = block_at(m->c, v[i]), *b = block_at(m->c, v[k]);
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
	memcpy(v + from, m->c->spare, (size_t)(to - m->c->spare) * sizeof(*v));
}

static void merge_all(const struct halves *m, size_t from, size_t end, size_t run)
{
	size_t half = from + (end - from) / 2;

	if (m->c->runs.v[run].end >= end)
		return;
	merge_all(m, from, half, run);
	merge_all(m, half, end, run_at(m->c, run, half));
	merge_halves(m, from, half, end);
}

int hist_merge(struct hist_merge *c)
{
	scoped(halves_done) struct halves m = { .c = c };
	int err;

	if (!c->n)
		return 0;
	err = leaves_find(&m, 0, c->n, 0);
	if (err == 0)
		err = leaves_index(&m);
	if (err < 0)
		return err;
	leaves_fill(&m);
	merge_all(&m, 0, c->n, 0);
	return 0;
}
