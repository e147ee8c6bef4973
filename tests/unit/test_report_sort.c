/*
 * Numbers sort as comparing would: stable, over all their bits. Callers come as merging halves of
 * halves puts them, entry by entry. Kinds are as many as there are combinations.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "base/vec.h"
#include "report/distinct_values.h"
#include "report/number_sort.h"
#include "report/perf_merge_order.h"

#define N 50000

static uint64_t next_number(void)
{
	static uint64_t x = 88172645463325252ull;

	x ^= x << 13;
	x ^= x >> 7;
	return x ^= x << 17;
}

/* ---- by numbers ---- */

static void assert_sorted(const struct keyed_item *v, size_t n)
{
	for (size_t i = 1; i < n; i++) {
		assert_true(v[i - 1].high <= v[i].high);
		if (v[i - 1].high < v[i].high)
			continue;
		assert_true(v[i - 1].low <= v[i].low);
		if (v[i - 1].low == v[i].low)
			assert_true(v[i - 1].item < v[i].item);
	}
}

static void sorts(size_t n, uint64_t key_mask, uint32_t high_mask)
{
	static struct keyed_item v[N], spare[N];
	uint64_t sum = 0;

	for (size_t i = 0; i < n; i++) {
		uint64_t key = next_number() & key_mask;

		v[i] = (struct keyed_item){ .low = i % 3 ? key : key >> 40, .item = (uint32_t)i,
					    .high = (uint32_t)next_number() & high_mask };
		sum += v[i].low ^ i;
	}
	sort_keyed_items(v, n, spare);
	assert_sorted(v, n);
	for (size_t i = 0; i < n; i++)
		sum -= v[i].low ^ v[i].item;
	assert_int_equal(sum, 0);
}

static void numbers_sort_as_comparing(void **state)
{
	static const uint64_t keys[] = { 0, 1, 0xff, 0x7fff0fffff, 0xff00000000000000, 0x8000000000000001,
					 UINT64_MAX };
	static const uint32_t highs[] = { 0, 1, 0xff, 0x80000001, UINT32_MAX };
	static const size_t counts[] = { 0, 1, 2, 16, 17, 40, 300, 2000, N };

	for (size_t n = 0; n < countof(counts); n++)
		for (size_t k = 0; k < countof(keys); k++)
			for (size_t h = 0; h < countof(highs); h++)
				sorts(counts[n], keys[k], highs[h]);
}

/* One that is far from all others, at either end. */
static void strays_sort_too(void **state)
{
	static struct keyed_item v[N], spare[N];

	for (uint32_t i = 0; i < N; i++)
		v[i] = (struct keyed_item){ .low = 1000 + next_number() % 10, .high = 7, .item = i };
	v[N / 2].low = UINT64_MAX;
	v[N / 3].low = 0;
	v[N / 4].high = 0;
	v[N / 5].high = UINT32_MAX;
	sort_keyed_items(v, N, spare);
	assert_sorted(v, N);
	assert_int_equal(v[0].item, N / 4);
	assert_int_equal(v[1].item, N / 3);
	assert_int_equal(v[N - 2].item, N / 2);
	assert_int_equal(v[N - 1].item, N / 5);
}

/* ---- callers ---- */

struct placed {
	uint32_t upper, head, lower;	/* before the depth; behind it, up to the owner's name; all */
	uint32_t owner, depth, item;
};

static bool is_behind(const struct placed *a, const struct placed *b)
{
	if (a->upper != b->upper)
		return a->upper > b->upper;
	if (a->owner == b->owner && a->depth != b->depth)
		return a->depth > b->depth;
	return a->lower > b->lower;
}

static void merge(struct placed *v, size_t n, struct placed *spare)
{
	size_t left = n / 2, i = 0, k = left, at = 0;

	if (n < 2)
		return;
	merge(v, left, spare);
	merge(v + left, n - left, spare);
	while (i < left && k < n)
		spare[at++] = is_behind(&v[i], &v[k]) ? v[k++] : v[i++];
	while (i < left)
		spare[at++] = v[i++];
	memcpy(v, spare, at * sizeof(*v));
}

/* All of one owner, as it has them. */
static int cmp_places(const void *pa, const void *pb)
{
	const struct placed *a = pa, *b = pb;

	if (a->owner != b->owner)
		return a->owner < b->owner ? -1 : 1;
	return is_behind(a, b) ? 1 : -1;
}

static bool same_block(const struct placed *a, const struct placed *b)
{
	return a->owner == b->owner && a->upper == b->upper && a->depth == b->depth && a->head == b->head;
}

struct case_ {
	struct placed v[N], sorted[N], spare[N];
	uint32_t order[N], places[N], block_of[N], merged[N];
};

/* Owners have runs of `run`, in turn; each `heads` numbers behind the depth. */
static void case_fill(struct case_ *c, size_t n, uint32_t owners, uint32_t run, uint32_t heads)
{
	for (uint32_t i = 0; i < n; i++) {
		struct placed *p = &c->v[i];

		*p = (struct placed){ .upper = (uint32_t)next_number() % 8 % 3, .owner = i / run % owners,
				      .depth = (uint32_t)next_number() % 6, .item = 3 * i };
		p->head = (uint32_t)next_number() % heads * owners + p->owner;
		p->lower = p->head * N + (uint32_t)(i * 7919ull % n);
		c->order[i] = p->item;
	}
	memcpy(c->sorted, c->v, n * sizeof(*c->v));
	qsort(c->sorted, n, sizeof(*c->v), cmp_places);
}

static void callers_fill(struct perf_merge *h, struct case_ *c, size_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		struct order_run *r = h->runs.n ? &h->runs.v[h->runs.n - 1] : NULL;
		struct order_block *b = h->blocks.n ? &h->blocks.v[h->blocks.n - 1] : NULL;
		const struct placed *p = &c->sorted[i];

		if (!r || r->owner != c->v[i].owner)
			r = vec_add(&h->runs);
		*r = (struct order_run){ i + 1, c->v[i].owner };
		if (!b || !same_block(p, p - 1)) {
			b = vec_add(&h->blocks);
			*b = (struct order_block){ .from = i, .owner = p->owner,
						  .rank = p->upper * 100000 + p->head };
		}
		b->end = i + 1;
		c->places[i] = p->item;
		c->block_of[i] = (uint32_t)h->blocks.n - 1;
	}
}

static void merges(size_t n, uint32_t owners, uint32_t run, uint32_t heads)
{
	static struct case_ c;
	struct perf_merge h = { .order = c.order, .n = n, .sorted = c.places, .block_of = c.block_of,
				.spare = c.merged };

	case_fill(&c, n, owners, run, heads);
	callers_fill(&h, &c, n);
	assert_int_equal(perf_merge(&h), 0);
	merge(c.v, n, c.spare);
	for (size_t i = 0; i < n; i++)
		assert_int_equal(c.places[c.order[i]], c.v[i].item);
	vec_done(&h.runs);
	vec_done(&h.blocks);
}

static void callers_come_as_merged(void **state)
{
	merges(1, 1, 1, 1);
	merges(1000, 1, 1000, 3);
	merges(N, 2, N / 2, 3);
	merges(N, 3, N / 3 + 1, 2);
	merges(N, 7, N / 9, 4);		/* owners that come again */
	merges(N, 50, 1, 3);
	merges(N, 500, 37, 20);
	merges(4097, 4097, 1, 1);
}

/* ---- kinds ---- */

/* Numbers below `most` each: far more than the first table has room for, then few. */
static void counts(struct distinct_values *k, uint64_t most)
{
	static uint32_t kind_of[N];
	static uint64_t numbers[N][DISTINCT_NUMBERS];
	size_t sum = 0;

	assert_int_equal(distinct_values_clear(k, N), 0);
	for (uint32_t i = 0; i < N; i++) {
		int64_t kind;

		for (size_t j = 0; j < DISTINCT_NUMBERS; j++)
			numbers[i][j] = next_number() % most * 0x100000001;
		kind = distinct_values_add(k, numbers[i], i);
		assert_in_range(kind, 0, k->n - 1);
		kind_of[i] = (uint32_t)kind;
	}
	for (size_t i = 0; i < k->n; i++) {
		assert_int_equal(kind_of[k->v[i].first], i);
		sum += k->v[i].n;
	}
	assert_int_equal(sum, N);
	for (size_t i = 0; i < N; i++)
		assert_memory_equal(k->v[kind_of[i]].numbers, numbers[i], sizeof(numbers[i]));
}

static void kinds_are_counted(void **state)
{
	struct distinct_values k = { 0 };

	counts(&k, 1);
	assert_int_equal(k.n, 1);
	counts(&k, 1u << 30);
	assert_int_equal(k.n, N);
	counts(&k, 2);
	assert_int_equal(k.n, 16);
	assert_int_equal(distinct_values_clear(&k, 10), 0);
	assert_int_equal(k.n, 0);
	distinct_values_done(&k);
}

/* Numbers that all have the same hash: the caller can see that counting them does not help. */
static void collisions_are_detected(void **state)
{
	struct distinct_values k = { 0 };
	uint64_t numbers[DISTINCT_NUMBERS] = { 0 };

	assert_int_equal(distinct_values_clear(&k, 500), 0);
	for (uint64_t i = 0; i < 500; i++) {
		numbers[0] = (i << 32 | i) * 0xf1de83e19937733d;	/* the inverse of the hash's factor */
		assert_int_equal(distinct_values_add(&k, numbers, (uint32_t)i), i);
	}
	assert_int_equal(k.n_collisions, 500 * 499 / 2);
	assert_int_equal(distinct_values_clear(&k, 500), 0);
	assert_int_equal(k.n_collisions, 0);
	distinct_values_done(&k);
}

static void sorting_nothing(void **state)
{
	struct perf_merge none = { 0 };

	sort_keyed_items(NULL, 0, NULL);
	assert_int_equal(perf_merge(&none), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_sort_as_comparing),
		cmocka_unit_test(strays_sort_too),
		cmocka_unit_test(callers_come_as_merged),
		cmocka_unit_test(kinds_are_counted),
		cmocka_unit_test(collisions_are_detected),
		cmocka_unit_test(sorting_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
