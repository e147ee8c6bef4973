/*
 * Columns of numbers sort as comparing would: stable, over all 64 bits; depths count within one
 * owner only.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "cli/hist_sort.h"

const char *program_name = "tacho";

#define N 5000

static uint64_t next_number(void)
{
	static uint64_t x = 88172645463325252ull;

	x ^= x << 13;
	x ^= x >> 7;
	return x ^= x << 17;
}

struct pair {
	uint64_t first, second;
};

static int cmp_pairs(const struct pair *a, const struct pair *b)
{
	if (a->first != b->first)
		return a->first < b->first ? -1 : 1;
	return (a->second > b->second) - (a->second < b->second);
}

/* Entries without every third, by two columns; what is equal stays as it was. */
static void sorts(const struct pair *of)
{
	uint32_t entries[N], place[N];
	struct hist_sort s;
	size_t n = 0;

	for (uint32_t i = 0; i < N; i++)
		if (i % 3)
			entries[n++] = i;
	assert_int_equal(hist_sort_init(&s, N, entries, n), 0);
	for (size_t i = 0; i < N; i++)
		s.column[i] = of[i].second;
	hist_sort_by_column(&s);
	for (size_t i = 0; i < N; i++)
		s.column[i] = of[i].first;
	hist_sort_by_column(&s);
	hist_sort_places(&s, true, place);
	for (size_t i = 0; i < n; i++) {
		uint32_t at = s.v[i].entry, before = i ? s.v[i - 1].entry : at;
		int c = cmp_pairs(&of[before], &of[at]);

		assert_true(at % 3 != 0);
		assert_true(c < 0 || (c == 0 && before <= at));
		assert_int_equal(place[at] - place[before], of[before].first != of[at].first);
	}
	hist_sort_done(&s);
}

static void columns_sort_as_comparing(void **state)
{
	static const uint64_t masks[] = { 0, 1, 0xff, 0xff00000000000000, 0x8000000000000001, UINT64_MAX };
	static struct pair of[N];

	for (size_t m = 0; m < countof(masks); m++) {
		for (size_t i = 0; i < N; i++)
			of[i] = (struct pair){ next_number() & masks[m], next_number() & 7 };
		sorts(of);
	}
}

static void nothing_is_sorted_too(void **state)
{
	struct hist_sort s;
	struct hist_placed none;

	assert_int_equal(hist_sort_init(&s, 0, NULL, 0), 0);
	hist_sort_by_column(&s);
	hist_sort_places(&s, false, NULL);
	hist_sort_placed(&none, 0, NULL);
	hist_sort_done(&s);
}

static void depths_count_within_an_owner(void **state)
{
	struct hist_placed spare[4], v[4] = {
		{ .upper = 1, .lower = 0, .owner = 1, .depth = 0 },
		{ .upper = 0, .lower = 1, .owner = 1, .depth = 9 },
		{ .upper = 0, .lower = 3, .owner = 1, .depth = 2 },
		{ .upper = 0, .lower = 4, .owner = 2, .depth = 0 },
	};

	hist_sort_placed(v, 4, spare);
	assert_int_equal(v[0].lower, 3);	/* before 1: less deep */
	assert_int_equal(v[1].lower, 1);
	assert_int_equal(v[2].lower, 4);	/* of another: by the keys after the depth */
	assert_int_equal(v[3].lower, 0);	/* the keys before it decide first */
}

/* Without a depth it is a plain order, whatever was there before. */
static void places_sort_as_comparing(void **state)
{
	static struct hist_placed v[N], spare[N];

	for (uint32_t i = 0; i < N; i++)
		v[i] = (struct hist_placed){ .upper = (uint32_t)next_number() % 16, .lower = i * 7919 % N,
					     .owner = i };
	hist_sort_placed(v, N, spare);
	for (size_t i = 1; i < N; i++)
		assert_true(v[i - 1].upper < v[i].upper ||
			    (v[i - 1].upper == v[i].upper && v[i - 1].lower < v[i].lower));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(columns_sort_as_comparing),
		cmocka_unit_test(nothing_is_sorted_too),
		cmocka_unit_test(depths_count_within_an_owner),
		cmocka_unit_test(places_sort_as_comparing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
