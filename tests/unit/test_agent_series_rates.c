/* agent/core/series_rates.c: sums and maxima of rates, independent of the sources' intervals. */
#include "agent/core/series_rates.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#define SECOND 1000000000ll

static struct registry registry;
static uint32_t ids[2];

static int setup(void **state)
{
	struct metric like = { .event = "page-faults", .name = "perf_page_faults", .unit = "", .help = "",
			       .kind = METRIC_COUNTER, .scale = 1 };

	(void)state;
	registry_init(&registry);
	for (int i = 0; i < 2; i++) {
		struct label cpu = { "cpu", i ? "1" : "0" };

		ids[i] = (uint32_t)registry_add(&registry, &(struct series_desc){ registry_metric(&registry, &like), "s", &cpu, 1, 0, 1 });
	}
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	registry_done(&registry);
	return 0;
}

static void put(uint32_t id, uint64_t count, int64_t time_ns)
{
	struct point p = { .series = id, .state = TACHO_COUNTING, .value = (double)count, .count = count };

	registry_apply(&registry,
		       &(struct point_batch){
			       .source = "s", .time_ns = time_ns, .points = &p, .n_points = 1 });
}

static void rates_are_of_each(void **state)
{
	struct condition sum = { .func = CONDITION_RATE, .event = "page-faults" };
	struct condition largest = { .func = CONDITION_MAX_RATE, .event = "page-faults" };
	struct series_rates a = { 0 }, b = { 0 };

	(void)state;
	put(ids[0], 1000000, 100 * SECOND);	/* a large count, but a low rate */
	put(ids[1], 10, 100 * SECOND);
	assert_true(isnan(series_rates_update(&a, &registry, &sum, 0)));
	assert_true(isnan(series_rates_update(&b, &registry, &largest, 0)));
	put(ids[0], 1000001, 101 * SECOND);
	put(ids[1], 510, 101 * SECOND);
	assert_float_equal(series_rates_update(&a, &registry, &sum, SECOND), 501, 1e-6);
	assert_float_equal(series_rates_update(&b, &registry, &largest, SECOND), 500, 1e-6);
	registry_end(&registry, ids[1]);
	assert_float_equal(series_rates_update(&b, &registry, &largest, SECOND), 1, 1e-6);
	series_rates_done(&a);
	series_rates_done(&b);
}

/* Read every five seconds, evaluated every second. */
static void rates_stay_between_points(void **state)
{
	struct condition c = { .func = CONDITION_RATE, .event = "page-faults" };
	struct series_rates r = { 0 };
	uint64_t count = 0;

	(void)state;
	for (int64_t s = 0; s < 20; s++) {
		double v;

		if (s % 5 == 0)
			put(ids[0], count += 500, (1000 + s) * SECOND);
		v = series_rates_update(&r, &registry, &c, (uint64_t)(s * SECOND));
		if (s >= 5)
			assert_float_equal(v, 100, 1e-6);
	}
	assert_true(isnan(series_rates_update(&r, &registry, &c, (uint64_t)(60 * SECOND))));	/* paused */
	series_rates_done(&r);
}

static void rates_outlive_a_set_clock(void **state)
{
	struct condition c = { .func = CONDITION_RATE, .event = "page-faults" };
	struct series_rates r = { 0 };

	(void)state;
	put(ids[0], 100, 1000 * SECOND);
	series_rates_update(&r, &registry, &c, 0);
	put(ids[0], 200, 5000 * SECOND);
	assert_float_equal(series_rates_update(&r, &registry, &c, (uint64_t)SECOND), 100, 1e-6);
	put(ids[0], 300, 10 * SECOND);
	assert_float_equal(series_rates_update(&r, &registry, &c, (uint64_t)(2 * SECOND)), 100, 1e-6);
	series_rates_done(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(rates_are_of_each, setup, teardown),
		cmocka_unit_test_setup_teardown(rates_stay_between_points, setup, teardown),
		cmocka_unit_test_setup_teardown(rates_outlive_a_set_clock, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
