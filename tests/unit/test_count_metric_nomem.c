/*
 * Adding and planning metrics, with each allocation failing once: the call returns -ENOMEM or succeeds
 * without it, and nothing leaks (which the sanitizer builds check).
 */
#include "event_support.h"

#include <errno.h>
#include <math.h>

#include <tacho/tacho.h>

#include "nomem.h"

#define FILES TEST_DATA "/../metric/data/"

static const struct { const char *tree, *list, *name; } cases[] = {
	{ "spr", FILES "kernel.json", "Own" },		/* groups, other metrics, thresholds */
	{ "spr", FILES "kernel.json", "twice" },
	{ "spr", FILES "kernel.json", "edges" },	/* refused */
	{ "spr", FILES "perfmon.json", "Fetch_Latency" },
	{ "spr", FILES "perfspect.json", "CPU operating frequency (in GHz)" },
	{ "spr", FILES "perfspect.json", "insn_per_cycle" },
	{ "power", FILES "kernel.json", "System" },
};

static double no_count(void *arg, uint32_t event)
{
	(void)arg;
	return event;
}

static int try_once(size_t i, unsigned long nth)
{
	const struct tacho_metric_counts counts = { .size = sizeof(counts), .count = no_count, .elapsed_s = 1 };
	struct tacho_error e = { 0 };
	struct tacho *t = open_tree(cases[i].tree);
	struct tacho_metric_set *ms = NULL;
	struct tacho_evset *set = NULL;
	int n;

	count = 0;
	fail_at = nth;
	n = tacho_eventlist_add(t, cases[i].list, &e);
	if (n >= 0 && (tacho_evset_new(&set, t) < 0 || tacho_metric_set_new(&ms, t, NULL) < 0))
		n = error_nomem(&e);
	if (n >= 0)
		n = tacho_metric_set_add(ms, cases[i].name, &e);
	if (n >= 0 && tacho_metric_set_plan(ms, set, &e) < 0)
		n = e.code;
	fail_at = 0;
	if (n < 0)
		assert_true(e.code == n && e.message[0]);
	for (size_t k = 0; n >= 0 && k < tacho_metric_set_size(ms); k++)
		tacho_metric_set_value(ms, k, &counts, NULL);
	tacho_metric_set_free(ms);
	tacho_evset_free(set);
	tacho_close(t);
	return n;
}

static void survives_each_failure(void **state)
{
	for (size_t i = 0; i < countof(cases); i++) {
		int good = try_once(i, 0);
		unsigned long nth = 0;

		assert_true(i != 0 || good == 2);

		do {
			int n = try_once(i, ++nth);

			/* A metric of a group whose event could not be added is left out, so fewer are fine too. */
			if (n != -ENOMEM && n != good && !(good >= 0 && n <= good))
				fail_msg("%s, allocation %lu: %d, not %d", cases[i].name, nth, n, good);
		} while (count >= nth);
		assert_true(nth > 10);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(survives_each_failure) };

	setenv("XDG_CACHE_HOME", "none", 1);
	setenv("XDG_DATA_HOME", "none", 1);
	setenv("HOME", "", 1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
