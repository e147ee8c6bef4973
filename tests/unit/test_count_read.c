/* count/read.c, multiplex_error.c: scaling, values that never fall, broken and changing groups. */
#include "fake_kernel.h"

#include <math.h>
#include <stdlib.h>

#include "count/multiplex_error.h"

struct bench {
	struct fake_machine machine;
	struct fake_kernel kernel;
	struct tacho *t;
	struct tacho_evset *set;
};

static void bench_open(struct bench *b, const char *spec)
{
	struct tacho_error e = { 0 };

	memset(b, 0, sizeof(*b));
	fake_machine_init(&b->machine);
	b->kernel = (struct fake_kernel){ .version = 612, .privileged = true, .has_pmu = true,
					  .n_hardware = 4 };
	b->t = fake_context(&b->machine, &b->kernel);
	assert_int_equal(tacho_evset_new(&b->set, b->t), 0);
	assert_true(tacho_evset_add(b->set, spec, &e) > 0);
	assert_true(tacho_evset_open(b->set, NULL, &e) > 0);
	assert_int_equal(tacho_evset_start(b->set), 0);
}

static void bench_done(struct bench *b)
{
	tacho_evset_free(b->set);
	tacho_close(b->t);
	fake_machine_done(&b->machine);
}

static const struct tacho_reading *read_now(struct bench *b, size_t i)
{
	size_t n;

	assert_true(tacho_evset_read(b->set, NULL) >= 0);
	assert_true(tacho_evset_readings(b->set, &n) && i < n);
	return &tacho_evset_readings(b->set, &n)[i];
}

static struct tacho_sum sum_now(struct bench *b, size_t i, bool last, bool raw)
{
	const struct tacho_sum *sums;

	assert_true(tacho_evset_sums(b->set, TACHO_OPTS(tacho_sums_opts, .since_last_read = last,
				     .no_scale = raw), &sums) > (int)i);
	return sums[i];
}

static void exact_counts(void **state)
{
	const struct tacho_reading *r;
	struct bench b;

	bench_open(&b, "cycles");
	fake_advance(&b.kernel, 1000000, 1);
	r = read_now(&b, 0);
	assert_int_equal(r->state, TACHO_COUNTING);
	assert_int_equal(r->value, 1000);
	fake_advance(&b.kernel, 2000000, 1);
	r = read_now(&b, 0);
	assert_int_equal(r->value, 3000);
	assert_int_equal(r->last_value, 2000);
	assert_int_equal(r->last_enabled_ns, 2000000);
	assert_int_equal(sum_now(&b, 0, true, true).count, 2000);
	assert_true(isnan(sum_now(&b, 0, false, false).error_percent));
	bench_done(&b);
}

/* The counter runs half of the time: each interval is scaled by two, according to its own times. */
static void scaled_intervals(void **state)
{
	const struct tacho_reading *r;
	struct bench b;

	bench_open(&b, "cycles");
	fake_advance(&b.kernel, 1000000, 1);
	read_now(&b, 0);
	fake_advance(&b.kernel, 1000000, 0.5);
	r = read_now(&b, 0);
	assert_int_equal(r->state, TACHO_SCALED);
	assert_int_equal(r->raw, 1500);
	assert_int_equal(r->value, 2000);	/* the totals' ratio, 4/3, would give the same here ... */
	b.kernel.fds[0].rate = 0.1;
	fake_advance(&b.kernel, 1000000, 0.25);
	r = read_now(&b, 0);
	assert_int_equal(r->value, 102000);	/* ... but not here: 25000 counts are scaled to 100000 */
	assert_int_equal(r->last_value, 100000);
	assert_int_equal(sum_now(&b, 0, true, true).count, 25000);
	assert_int_equal(sum_now(&b, 0, false, true).count, 26500);
	assert_true(fabs(sum_now(&b, 0, false, false).share - 1750000.0 / 3000000) < 1e-9);
	bench_done(&b);
}

/* The counter runs for most of a busy phase, then for little of an idle one: scaling totals would decrease. */
static void never_falls(void **state)
{
	struct bench b;
	uint64_t before = 0;

	bench_open(&b, "cycles");
	srand(7);
	for (int i = 0; i < 500; i++) {
		const struct tacho_reading *r;

		b.kernel.fds[0].rate = i % 50 < 10 ? 3 : 1e-6;
		fake_advance(&b.kernel, 1000000, (double)(rand() % 5) / 4);
		r = read_now(&b, 0);
		assert_true(r->value >= before);
		assert_int_equal(r->value - before, r->last_value);
		assert_true(r->running_ns <= r->enabled_ns);
		before = r->value;
	}
	bench_done(&b);
}

/* An interval in which the counter did not run is added to the next one. */
static void not_counted_interval(void **state)
{
	const struct tacho_reading *r;
	struct bench b;

	bench_open(&b, "cycles");
	fake_advance(&b.kernel, 1000000, 0);
	r = read_now(&b, 0);
	assert_int_equal(r->state, TACHO_NOT_COUNTED);
	assert_int_equal(r->last_value, 0);
	assert_int_equal(sum_now(&b, 0, false, false).state, TACHO_NOT_COUNTED);
	fake_advance(&b.kernel, 1000000, 1);
	r = read_now(&b, 0);
	assert_int_equal(r->state, TACHO_SCALED);
	assert_int_equal(r->value, 2000);
	assert_int_equal(r->last_enabled_ns, 1000000);
	fake_advance(&b.kernel, 1000000, 0);
	r = read_now(&b, 0);
	assert_int_equal(r->value, 2000);
	assert_int_equal(sum_now(&b, 0, true, false).state, TACHO_NOT_COUNTED);
	fake_advance(&b.kernel, 1000000, 0.5);
	assert_int_equal(read_now(&b, 0)->value, 4000);
	bench_done(&b);
}

static void running_leads_by_a_hair(void **state)
{
	const struct tacho_reading *r;
	struct bench b;

	bench_open(&b, "cycles");
	fake_advance(&b.kernel, 1000000, 1);
	b.kernel.fds[0].running_ns += 3;
	r = read_now(&b, 0);
	assert_int_equal(r->running_ns, r->enabled_ns);
	assert_int_equal(r->value, 1000);
	assert_int_equal(r->state, TACHO_COUNTING);
	bench_done(&b);
}

static void pinned_and_pushed_off(void **state)
{
	struct bench b;

	bench_open(&b, "cycles:D,page-faults");
	b.kernel.fds[0].broken = true;
	fake_advance(&b.kernel, 1000000, 1);
	assert_int_equal(read_now(&b, 0)->state, TACHO_FAILED);
	assert_int_equal(sum_now(&b, 0, false, false).state, TACHO_FAILED);
	assert_non_null(strstr(sum_now(&b, 0, false, false).why, "pinned"));
	assert_int_equal(sum_now(&b, 1, false, false).count, 1000);
	bench_done(&b);
}

/* ECHILD: the read is repeated, and finally the members are read one by one with the same result. */
static void racing_children(void **state)
{
	for (unsigned races = 1; races < 10; races += 7) {
		struct bench b;

		bench_open(&b, "{cycles,instructions,branches}");
		b.kernel.n_child_races = races;
		fake_advance(&b.kernel, 1000000, 1);
		read_now(&b, 0);
		b.kernel.n_child_races = 0;
		fake_advance(&b.kernel, 1000000, 1);
		read_now(&b, 0);
		for (size_t i = 1; i < 3; i++)
			assert_int_equal(sum_now(&b, i, false, false).count, 2000);
		bench_done(&b);
	}
}

/* A failed read adds nothing to its interval and does not change the total. */
static void failed_read(void **state)
{
	static const char *const specs[] = { "cycles", "{cycles,instructions}" };

	for (size_t i = 0; i < countof(specs); i++) {
		struct bench b;

		bench_open(&b, specs[i]);
		fake_advance(&b.kernel, 1000000, 1);
		read_now(&b, 0);
		assert_int_equal(sum_now(&b, i, true, false).count, 1000);
		b.kernel.fds[0].used = false;
		read_now(&b, 0);
		assert_int_equal(sum_now(&b, i, true, false).count, 0);
		assert_int_equal(sum_now(&b, i, true, false).running_ns, 0);
		assert_int_equal(sum_now(&b, i, false, false).count, 1000);
		b.kernel.fds[0].used = true;
		bench_done(&b);
	}
}

/* A member disappears from its group: the others are still read. */
static void dissolved_group(void **state)
{
	struct bench b;

	bench_open(&b, "{cycles,instructions,branches}");
	fake_advance(&b.kernel, 1000000, 1);
	read_now(&b, 0);
	b.kernel.fds[1].leader = 1;
	b.kernel.fds[1].enabled = true;
	fake_advance(&b.kernel, 1000000, 1);
	read_now(&b, 0);
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(sum_now(&b, i, false, false).count, 2000);
	bench_done(&b);
}

/* A group shares its times, so its ratios hold whatever the share. */
static void group_ratio(void **state)
{
	struct bench b;

	bench_open(&b, "{cycles,instructions}");
	b.kernel.fds[1].rate = 0.002;
	for (int i = 0; i < 5; i++) {
		fake_advance(&b.kernel, 1000000, 0.3);
		read_now(&b, 0);
	}
	assert_int_equal(sum_now(&b, 0, false, false).count, 5000);
	assert_int_equal(sum_now(&b, 1, false, false).count, 10000);
	bench_done(&b);
}

static void stop_and_start(void **state)
{
	struct bench b;

	bench_open(&b, "page-faults,duration_time");
	fake_advance(&b.kernel, 1000000, 1);
	assert_int_equal(tacho_evset_stop(b.set), 0);
	fake_advance(&b.kernel, 5000000, 1);
	assert_int_equal(tacho_evset_start(b.set), 0);
	fake_advance(&b.kernel, 1000000, 1);
	assert_int_equal(read_now(&b, 0)->value, 2000);
	assert_int_equal(sum_now(&b, 1, false, false).count, 2000000);
	bench_done(&b);
}

/* Rates 1 and 3 per ns, seen half the time: s = sqrt(2), SE = E * s / sqrt(2) * sqrt(1/2). */
static void error_formula(void **state)
{
	struct rate_variance s = { 0 };

	assert_true(isnan(multiplex_error(&s, s.n, 1000, 500)));
	rate_variance_add(&s, 250, 250);
	assert_true(isnan(multiplex_error(&s, s.n, 500, 250)));
	rate_variance_add(&s, 750, 250);
	assert_true(fabs(multiplex_error(&s, s.n, 1000, 500) - 1000 * sqrt(0.5)) < 1e-6);
	assert_true(multiplex_error(&s, s.n, 1000, 1000) == 0);
	rate_variance_add(&s, 5, 0);
	assert_int_equal(s.n, 2);
}

/* The true value is nearly always within three standard errors of the estimate. */
static void error_covers_truth(void **state)
{
	int outside = 0;

	srand(11);
	for (int round = 0; round < 30; round++) {
		struct tacho_sum sum;
		struct bench b;
		double truth = 0;

		bench_open(&b, "cycles");
		for (int i = 0; i < 40; i++) {
			double rate_seen = 1 + (double)(rand() % 1000) / 1000;
			double rate_hidden = 1 + (double)(rand() % 1000) / 1000;

			b.kernel.fds[0].rate = rate_seen;
			fake_advance(&b.kernel, 1000000, 0.5);
			truth += 500000 * (rate_seen + rate_hidden);
			read_now(&b, 0);
		}
		sum = sum_now(&b, 0, false, false);
		assert_int_equal(sum.state, TACHO_SCALED);
		assert_true(sum.error_percent > 0 && sum.error_percent < 20);
		outside += fabs((double)sum.count - truth) > 3 * sum.error_percent / 100 * sum.value;
		bench_done(&b);
	}
	assert_true(outside <= 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(exact_counts),
		cmocka_unit_test(scaled_intervals),
		cmocka_unit_test(never_falls),
		cmocka_unit_test(not_counted_interval),
		cmocka_unit_test(running_leads_by_a_hair),
		cmocka_unit_test(pinned_and_pushed_off),
		cmocka_unit_test(racing_children),
		cmocka_unit_test(failed_read),
		cmocka_unit_test(dissolved_group),
		cmocka_unit_test(group_ratio),
		cmocka_unit_test(stop_and_start),
		cmocka_unit_test(error_formula),
		cmocka_unit_test(error_covers_truth),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
