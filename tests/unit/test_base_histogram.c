/*
 * Percentiles of a histogram against those of the sorted numbers.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "base/histogram.h"

#include <math.h>

#define N 5000

static int by_value(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

static uint64_t random_value(int round)
{
	uint64_t v = (uint64_t)random() << 33 ^ (uint64_t)random() << 10 ^ (uint64_t)random();

	return round % 3 ? v >> (random() % 64) : v % 100;
}

static void percentiles(void **state)
{
	static const double wanted[] = { 0, 1, 50, 90, 99, 99.9, 100 };
	static uint64_t values[N];

	srandom(5);
	for (int round = 0; round < 9; round++) {
		struct histogram h = { 0 }, half = { 0 };

		for (size_t i = 0; i < N; i++) {
			values[i] = random_value(round);
			assert_int_equal(histogram_add(i % 2 ? &half : &h, values[i]), 0);
		}
		assert_int_equal(histogram_merge(&h, &half), 0);
		assert_int_equal(h.n, N);
		qsort(values, N, sizeof(*values), by_value);
		assert_true(h.min == values[0] && h.max == values[N - 1]);
		for (size_t i = 0; i < countof(wanted); i++) {
			size_t rank = (size_t)fmax(ceil(N * wanted[i] / 100), 1);
			uint64_t exact = values[rank - 1], got = histogram_percentile(&h, wanted[i]);

			assert_true(got >= exact && (double)(got - exact) <= (double)exact / 64);
		}
		histogram_done(&h);
		histogram_done(&half);
	}
}

static void few(void **state)
{
	struct histogram h = { 0 }, empty = { 0 };

	assert_int_equal(histogram_percentile(&h, 50), 0);
	assert_int_equal(histogram_merge(&h, &empty), 0);
	assert_int_equal(histogram_add(&h, UINT64_MAX), 0);
	assert_true(histogram_percentile(&h, 50) == UINT64_MAX);
	histogram_done(&h);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(percentiles), cmocka_unit_test(few) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
