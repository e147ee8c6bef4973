/* agent/store/chunk.c and rollup.c: encoded points decode unchanged; damage is an error, never a crash. */
#include "agent/store/rollup.h"

#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <cmocka.h>

#define SECOND 1000000000ll
#define START (1700000000 * SECOND)

static struct chunk_point point(int64_t i, uint64_t count, double value)
{
	return (struct chunk_point){ .time_ns = START + i * SECOND / 10, .state = i % 7 ? 0 : 1,
				     .count = count, .value = value, .share = i % 7 ? 1 : 0.25,
				     .min = 1, .max = 2, .seconds = 10, .n = 100 };
}

static void round_trip(enum chunk_level level, enum metric_kind kind)
{
	struct chunk c = { .n = 0 };
	struct chunk_reader r;
	struct chunk_point p;
	uint64_t count = 0;

	srandom(1);
	chunk_begin(&c, level, kind, START);
	for (int i = 0; i < 300; i++) {
		count += (uint64_t)random() % (i % 3 ? 100 : 1000000000);
		p = point(i, count, sin(i));
		chunk_add(&c, &p);
	}
	assert_false(buf_failed(&c.bytes));
	assert_int_equal(chunk_open(&r, buf_view(&c.bytes)), 0);
	srandom(1);
	count = 0;
	for (int i = 0; i < 300; i++) {
		struct chunk_point want;

		count += (uint64_t)random() % (i % 3 ? 100 : 1000000000);
		want = point(i, count, sin(i));
		assert_int_equal(chunk_next(&r, &p), 1);
		assert_int_equal(p.time_ns, want.time_ns);
		assert_int_equal(p.state, want.state);
		if (kind == METRIC_COUNTER)
			assert_int_equal(p.count, want.count);
		else
			assert_true(p.value == want.value);
		assert_int_equal(p.n, level ? 100 : 1);
		if (kind == METRIC_COUNTER)
			assert_true(fabs(p.share - want.share) < 1e-4);
	}
	assert_int_equal(chunk_next(&r, &p), 0);
	for (size_t n = 0; n < c.bytes.n; n++) {	/* truncated at any byte */
		int got = chunk_open(&r, str_n(c.bytes.bytes, n));

		while (got >= 0 && (got = chunk_next(&r, &p)) > 0)
			;
		assert_true(got == 0 || got == -EBADMSG);
	}
	for (int i = 0; i < 2000; i++) {		/* a byte changed */
		size_t at = (size_t)random() % c.bytes.n;
		char was = c.bytes.bytes[at];
		int got;

		c.bytes.bytes[at] = (char)random();
		got = chunk_open(&r, buf_view(&c.bytes));
		while (got >= 0 && (got = chunk_next(&r, &p)) > 0)
			;
		assert_true(got == 0 || got == -EBADMSG);
		c.bytes.bytes[at] = was;
	}
	chunk_done(&c);
}

static void chunk_round_trip(void **state)
{
	(void)state;
	for (int level = 0; level < CHUNK_LEVELS; level++) {
		round_trip(level, METRIC_COUNTER);
		round_trip(level, METRIC_GAUGE);
	}
}

/* Ten points a second, 100 counts each: buckets of 10 s at 1000 a second. */
static void rollup_counter(void **state)
{
	struct chunk_point bucket = { 0 };
	struct rollup r;
	unsigned n = 0;

	(void)state;
	rollup_init(&r, CHUNK_10S, METRIC_COUNTER);
	for (int i = 1; i <= 350; i++) {
		struct chunk_point p = { .time_ns = START + i * SECOND / 10, .count = 100u * (unsigned)i,
					 .share = 1 };

		if (!rollup_add(&r, &p, START, &bucket))
			continue;
		n++;
		assert_int_equal(bucket.time_ns % (10 * SECOND), 0);
		assert_true(fabs((double)bucket.min - 1000) < 1 && fabs((double)bucket.max - 1000) < 1);
		assert_true(bucket.share > 0.999);
	}
	assert_int_equal(n, 3);
	assert_true(fabs((double)bucket.seconds - 10) < 0.01);
	assert_int_equal(bucket.n, 100);
}

/* A restarted counter: its increase is what it counted since its start. */
static void rollup_restart(void **state)
{
	struct chunk_point p = { .time_ns = START + 5 * SECOND, .count = 70, .share = 1 };
	double counts = 0, seconds = 0;

	(void)state;
	assert_true(increase_since(&(struct previous_point){ true, START, START - 100 * SECOND, 1000 }, START + 4 * SECOND, &p,
				     &counts, &seconds));
	assert_true(counts == 70 && fabs(seconds - 1) < 1e-9);
	assert_true(increase_since(&(struct previous_point){ true, START, START - SECOND, 60 }, START - SECOND, &p, &counts,
				     &seconds));
	assert_true(counts == 10 && fabs(seconds - 5) < 1e-9);
	/* fell without a restart: unknown */
	assert_false(increase_since(&(struct previous_point){ true, START, START - SECOND, 80 }, START - SECOND, &p, &counts,
				      &seconds));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(chunk_round_trip),
		cmocka_unit_test(rollup_counter),
		cmocka_unit_test(rollup_restart),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
