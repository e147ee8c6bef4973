/*
 * Sorting queued records by time: runs of all lengths and with equal times, after some that are sorted already,
 * compared with a simple stable sort.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "perfdata/perfdata.h"

#define MOST 120u

static uint32_t next_random(uint32_t *seed)
{
	*seed = *seed * 1664525 + 1013904223;
	return *seed >> 8;
}

static void insertion_sort(struct queued_record *v, size_t n)
{
	for (size_t i = 1; i < n; i++)
		for (size_t k = i; k && v[k].time < v[k - 1].time; k--) {
			struct queued_record e = v[k];

			v[k] = v[k - 1];
			v[k - 1] = e;
		}
}

/* Times ascend up to `sorted`, and then in runs of about `run`. */
static void make_entries(struct queued_record *v, size_t sorted, size_t n, uint32_t run, uint32_t *seed)
{
	static uint8_t places[MOST];
	uint64_t time = 0;

	for (size_t i = 0; i < n; i++) {
		if (i == sorted || (i > sorted && next_random(seed) % run == 0))
			time = next_random(seed) % 100;
		time += next_random(seed) % 4;
		v[i] = (struct queued_record){ time, places + i };
	}
}

static void runs(void **state)
{
	uint32_t seed = 4711;

	for (unsigned round = 0; round < 3000; round++) {
		struct queued_record got[MOST], want[MOST], spare[MOST];
		size_t n = next_random(&seed) % (MOST + 1), sorted = next_random(&seed) % (n + 1);

		make_entries(got, sorted, n, 1 + next_random(&seed) % 40, &seed);
		memcpy(want, got, n * sizeof(*want));
		sort_entries(got, sorted, n, spare);
		insertion_sort(want, n);
		for (size_t i = 0; i < n; i++) {
			assert_int_equal(got[i].time, want[i].time);
			assert_ptr_equal(got[i].at, want[i].at);
		}
	}
}

static void until(void **state)
{
	static const struct queued_record v[] = { { 3, NULL }, { 5, NULL }, { 5, NULL }, { 9, NULL } };

	assert_int_equal(entries_until(v, 0, 5), 0);
	assert_int_equal(entries_until(v, countof(v), 2), 0);
	assert_int_equal(entries_until(v, countof(v), 5), 3);
	assert_int_equal(entries_until(v, countof(v), 8), 3);
	assert_int_equal(entries_until(v, countof(v), 9), 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(runs),
		cmocka_unit_test(until),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
