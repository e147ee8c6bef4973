/*
 * Each allocation of a parse fails once. In each case the parse must return -ENOMEM, leave the list
 * unchanged, and not leak (checked by the sanitizers).
 */
#include "event_support.h"

#include <errno.h>
#include "nomem.h"

static const struct { const char *tree, *spec; } cases[] = {
	{ "none", "cs,{cs:u,faults/name='a,b',cpu=0-3/}:k,duration_time" },
	{ "none", "syscalls:*,sched:sched_switch/name=x/,mem:0/8:rw/period=3/u" },
	{ "none", "cycles/call-graph=fp,@a,@b,branch_type=any,metric-id=x/" },
	{ "hybrid", "g{cycles,instructions/period=3/,cs}:u,cs/cpu=cpu_atom/" },
	{ "hybrid", "mem-loads,cpu/cycles/,slots" },
	{ "spr", "{imc/cas_count_read/,cha/event=1/},energy-pkg,TSC/name=y/" },
	{ "power", "hv_24x7/PM_PB_CYC,chip=1/,wide/direct/" },
	{ "spr", "cylces" },
	{ "spr", "cpu/umaks=1/" },
	{ "spr", "imc/umaks=1/" },
	{ "none", "sched:sched_swich" },
	{ "none", "cs,zz*:*" },
};

static int parse_once(const char *tree, const char *spec, unsigned long nth)
{
	struct event_list list = { 0 };
	struct tacho_error e = { 0 };
	struct tacho *t = open_tree(tree);
	int n, before;

	assert_int_equal(event_parse(t, "dummy", 0, &list, NULL), 1);
	count = 0;
	fail_at = nth;
	n = event_parse(t, spec, 0, &list, &e);
	fail_at = 0;
	before = n < 0 ? 1 : n + 1;
	assert_int_equal(list.n, before);
	assert_string_equal(list.v[0].name, "dummy");
	if (n < 0)
		assert_true(e.code == n && e.message[0]);
	event_list_done(&list);
	tacho_close(t);
	return n;
}

static void survives_each_failure(void **state)
{
	for (size_t i = 0; i < countof(cases); i++) {
		int good = parse_once(cases[i].tree, cases[i].spec, 0);
		unsigned long nth = 0;

		do {
			int n = parse_once(cases[i].tree, cases[i].spec, ++nth);

			if (n != good && n != -ENOMEM)
				print_error("%s, allocation %lu: %d\n", cases[i].spec, nth, n);
			assert_true(n == good || n == -ENOMEM);
		} while (count >= nth && nth < 20000);
		assert_true(nth > 1 && nth < 20000);
	}
}

static int stop_after(void *arg, const struct tacho_listing *item)
{
	(void)item;
	++*(int *)arg;
	return 0;
}

static void lists_despite_failures(void **state)
{
	unsigned long nth = 0;

	do {
		struct tacho *t = open_tree("spr");
		struct tacho_error e = { 0 };
		int seen = 0, err;

		count = 0;
		fail_at = ++nth;
		err = tacho_list(t, TACHO_OPTS(tacho_list_opts, .details = true), stop_after, &seen, &e);
		fail_at = 0;
		assert_true(err == 0 || err == -ENOMEM);
		tacho_close(t);
	} while (count >= nth && nth < 20000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(survives_each_failure), cmocka_unit_test(lists_despite_failures),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
