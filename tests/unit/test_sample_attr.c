/* sample/attr.c: the sampling fields of attrs, without opening them. */
#include "event_support.h"

#include <errno.h>

#include "sample/sampler.h"

static struct tacho_sampler *sampler_for(struct tacho *t, const char *spec, uint64_t period)
{
	struct tacho_sampler *s = NULL;

	assert_int_equal(tacho_sampler_new(&s, t), 0);
	assert_true(tacho_evset_add(s->set, spec, NULL) > 0);
	s->opts = (struct tacho_sampler_opts){ .size = sizeof(s->opts), .period = period };
	return s;
}

/* The counters of a pair that reload each other have fixed periods in that ratio. */
static void ratios_set_the_period_before(void **state)
{
	struct tacho *t = open_tree("acr");
	struct tacho_sampler *s = sampler_for(t, "{instructions,cycles/period=100000,ratio-to-prev=0.5/}", 0);
	const struct counted_event *v = s->set->events.v;

	assert_int_equal(sampler_prepare(s, NULL), 0);
	assert_int_equal(v[0].attr.sample_period, 200000);
	assert_int_equal(v[1].attr.sample_period, 100000);
	assert_false((v[0].attr.flags | v[1].attr.flags) & PERF_ATTR_FREQ);
	assert_false((v[0].attr.sample_type | v[1].attr.sample_type) & PERF_SAMPLE_PERIOD);
	assert_int_equal(v[0].attr.config2, 2);
	assert_int_equal(v[1].attr.config2, 3);
	tacho_sampler_free(s);

	s = sampler_for(t, "{branches,branch-misses/ratio-to-prev=0.01/}", 500);
	assert_int_equal(sampler_prepare(s, NULL), 0);
	assert_int_equal(s->set->events.v[0].attr.sample_period, 50000);
	assert_int_equal(s->set->events.v[1].attr.sample_period, 500);
	tacho_sampler_free(s);
	tacho_close(t);
}

static void ratios_need_a_period(void **state)
{
	struct tacho *t = open_tree("acr");
	struct tacho_sampler *s = sampler_for(t, "{instructions,cycles/ratio-to-prev=0.5/}", 0);
	struct tacho_error e;

	assert_int_equal(sampler_prepare(s, &e), -EINVAL);
	assert_non_null(strstr(e.message, "Event period term or count (-c) must be set"));
	tacho_sampler_free(s);
	s = sampler_for(t, "{instructions,cycles/ratio-to-prev=1e-300/}", 1000);
	assert_int_equal(sampler_prepare(s, &e), -EINVAL);
	assert_non_null(strstr(e.message, "is not a period"));
	tacho_sampler_free(s);
	tacho_close(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ratios_set_the_period_before),
		cmocka_unit_test(ratios_need_a_period),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
