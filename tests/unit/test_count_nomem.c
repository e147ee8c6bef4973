/*
 * Adding, opening, reading and summing a set, with each allocation failing once. The calls return
 * -ENOMEM or succeed without it, nothing crashes, no file descriptor stays open, and nothing leaks
 * (which the sanitizer builds check).
 */
#include "fake_kernel.h"
#include "nomem.h"

static const struct {
	const char *spec;
	struct fake_kernel kernel;
	struct tacho_evset_opts opts;
	enum tacho_per per;
} cases[] = {
	{ "page-faults,{cycles,instructions,branches}:W,duration_time,cgroup-switches",
	  { .version = 504, .privileged = true, .has_pmu = true, .n_hardware = 2 },
	  { .all_cpus = true }, TACHO_PER_CORE },
	{ "page-faults,context-switches,cycles", { .version = 612, .paranoid = 2 }, { 0 },
	  TACHO_PER_THREAD },
	{ "cycles", { .version = 612, .privileged = true }, { .clock_fallback = true, .cpus = "0-2" },
	  TACHO_PER_NODE },
};

/* Returns 0 if it succeeded although an allocation failed. */
static int live_once(struct tacho *t, size_t i)
{
	struct tacho_evset_opts opts = cases[i].opts;
	struct tacho_error e = { 0 };
	const struct tacho_sum *sums;
	struct tacho_evset *set;
	int err = tacho_evset_new(&set, t);

	opts.size = sizeof(opts);
	if (err < 0)
		return err;
	err = tacho_evset_add(set, cases[i].spec, &e);
	if (err > 0)
		err = tacho_evset_open(set, &opts, &e);
	if (err > 0)
		err = tacho_evset_start(set);
	if (err == 0)
		err = tacho_evset_read(set, &e);
	if (err >= 0)
		err = tacho_evset_sums(set, TACHO_OPTS(tacho_sums_opts, .per = cases[i].per), &sums);
	tacho_evset_free(set);
	return err;
}

static void each_allocation(void **state)
{
	for (size_t i = 0; i < countof(cases); i++) {
		unsigned long nth = 1;
		struct fake_machine m;
		bool reached = true;

		fake_machine_init(&m);
		for (; reached && nth < 2000; nth++) {
			struct fake_kernel kernel = cases[i].kernel;
			struct tacho *t = fake_context(&m, &kernel);
			int err;

			count = 0;
			fail_at = nth;
			err = live_once(t, i);
			reached = count >= nth;
			fail_at = 0;
			assert_true(reached || err >= 0);
			assert_int_equal(fake_n_open(&kernel), 0);
			tacho_close(t);
		}
		assert_false(reached);
		assert_true(nth > 20);
		fake_machine_done(&m);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(each_allocation) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
