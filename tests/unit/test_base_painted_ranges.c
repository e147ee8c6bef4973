/*
 * Overlapping ranges against an array that is painted byte by byte.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "base/painted_ranges.h"

#include <stdlib.h>

#define SPACE 64u

static void compare_random_ranges(void **state)
{
	srandom(7);
	for (int round = 0; round < 2000; round++) {
		struct painted_ranges ranges = { 0 };
		struct painted_table table = { 0 };
		uint32_t want[SPACE], n = (uint32_t)random() % 12;

		for (size_t i = 0; i < SPACE; i++)
			want[i] = PAINTED_NONE;
		for (uint32_t i = 0; i < n; i++) {
			uint64_t start = (uint64_t)random() % SPACE, end = (uint64_t)random() % (SPACE + 1);

			assert_int_equal(painted_ranges_add(&ranges, start, end, i), 0);
			for (uint64_t at = start; at < end; at++)
				want[at] = i;
		}
		assert_int_equal(painted_table_fill(&table, &ranges), 0);
		for (uint64_t at = 0; at < SPACE; at++)
			assert_int_equal(painted_table_find(&table, at), want[at]);
		assert_int_equal(painted_table_find(&table, UINT64_MAX), PAINTED_NONE);
		for (size_t i = 1; i < table.n; i++) {
			assert_true(table.v[i - 1].start < table.v[i].start);
			assert_int_not_equal(table.v[i - 1].value, table.v[i].value);
		}
		vec_done(&ranges);
		vec_done(&table);
	}
}

static void ignore_empty_and_backward_ranges(void **state)
{
	struct painted_ranges ranges = { 0 };
	struct painted_table table = { 0 };

	assert_int_equal(painted_ranges_add(&ranges, 5, 5, 1), 0);
	assert_int_equal(painted_ranges_add(&ranges, UINT64_MAX, 3, 1), 0);
	assert_int_equal(ranges.n, 0);
	assert_int_equal(painted_table_fill(&table, &ranges), 0);
	assert_int_equal(painted_table_find(&table, 5), PAINTED_NONE);
	vec_done(&table);
}

/* The end of the address space has no row after it. */
static void reach_the_last_address(void **state)
{
	struct painted_ranges ranges = { 0 };
	struct painted_table table = { 0 };

	assert_int_equal(painted_ranges_add(&ranges, 1, UINT64_MAX, 3), 0);
	assert_int_equal(painted_ranges_add(&ranges, 2, UINT64_MAX, 4), 0);
	assert_int_equal(painted_table_fill(&table, &ranges), 0);
	assert_int_equal(painted_table_find(&table, 1), 3);
	assert_int_equal(painted_table_find(&table, UINT64_MAX - 1), 4);
	assert_int_equal(painted_table_find(&table, UINT64_MAX), PAINTED_NONE);
	vec_done(&ranges);
	vec_done(&table);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(compare_random_ranges),
		cmocka_unit_test(ignore_empty_and_backward_ranges),
		cmocka_unit_test(reach_the_last_address),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
