/*
 * Each allocation fails once while a list is read and its names are parsed: the call must return -ENOMEM
 * or succeed, and not leak (checked by the sanitizers).
 */
#include "event_support.h"

#include <errno.h>

#include "event/vendor.h"
#include "nomem.h"

#define LISTS TEST_DATA "/../lists/data/"

static const struct { const char *tree, *list, *spec; } cases[] = {
	{ "spr", LISTS "skx_core.json", "{INST_RETIRED.ANY,L2_RQSTS.PF_MISS:config1=0x10:u}" },
	{ "spr", LISTS "icx_uncore.json", "UNC_CHA_TOR_INSERTS.IA_MISS_DRD" },
	{ "spr", LISTS "skx_core.json", "TEST.UNKNOWN_MSR" },
	{ "hybrid", LISTS "hybrid/big_core.json", "BIG.ONLY" },
	{ "none", LISTS "jkt_matrix.json", "OFFCORE_RESPONSE.DEMAND_RFO.LLC_MISS.LOCAL_DRAM" },
	{ "amd", LISTS "perfspect.txt", "beats_cs0" },
	{ "amd", LISTS "kernel_amd.json", "l3_lookup_state.l3_miss" },
	{ "arm64", LISTS "arm.json", "INST_RETIRED" },
	{ "arm64", LISTS "kernel/arm/n9/core.json", "ST_SPEC" },
	{ "spr", LISTS "icx_uncore.json", "uncore_cha/UNC_CHA_TOR_INSERTS.IA_MISS_DRD/" },
	{ "spr", LISTS "skx_core.json", "cpu/INST_RETIRED.ANY,cmask=1/" },
};

static int walked(void *arg, const struct tacho_listed *ev)
{
	(void)arg;
	return ev->name[0] ? 0 : 1;
}

static int try_once(size_t i, unsigned long nth)
{
	struct event_list list = { 0 };
	struct tacho_error e = { 0 };
	struct tacho *t = open_tree(cases[i].tree);
	int n;

	count = 0;
	fail_at = nth;
	n = tacho_eventlist_add(t, cases[i].list, &e);
	if (n >= 0)
		n = tacho_eventlist_walk(t, NULL, walked, NULL, &e);
	if (n >= 0)
		n = event_parse(t, cases[i].spec, 0, &list, &e);
	fail_at = 0;
	if (n < 0)
		assert_true(e.code == n && e.message[0]);
	event_list_done(&list);
	tacho_close(t);
	return n;
}

static void survives_each_failure(void **state)
{
	for (size_t i = 0; i < countof(cases); i++) {
		int good = try_once(i, 0);
		unsigned long nth = 0;

		do {
			int n = try_once(i, ++nth);

			if (n != good && n != -ENOMEM)
				print_error("%s, allocation %lu: %d\n", cases[i].spec, nth, n);
			assert_true(n == good || n == -ENOMEM);
		} while (count >= nth && nth < 20000);
		assert_true(nth > 1 && nth < 20000);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(survives_each_failure) };

	/* Without a cache every try reads the list. */
	setenv("XDG_CACHE_HOME", "none", 1);
	setenv("XDG_DATA_HOME", "none", 1);
	setenv("HOME", "", 1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
