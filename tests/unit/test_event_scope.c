/*
 * tacho_set_event_scope(): names limited to a core type or a PMU, and core types added up.
 */
#include "event_support.h"

#include <errno.h>

static const struct parse_row on_atom[] = {
	{ "cycles", "cpu_atom/cycles/ 0:0xa00000000 @16-23" },
	{ "cycles:u", "cpu_atom/cycles/u 0:0xa00000000 !k !h @16-23" },
	{ "{cycles,instructions}", "cpu_atom/cycles/ 0:0xa00000000 @16-23 {0/2} | "
	  "cpu_atom/instructions/ 0:0xa00000001 @16-23 {0/2}" },
	{ "mem-loads,cs", "mem-loads 10:0x5d0 config1=0x3 @16-23 | cs 1:0x3" },
	{ "cs,cycles", "cs 1:0x3 | cpu_atom/cycles/ 0:0xa00000000 @16-23" },
	{ "power/energy-pkg/", "power/energy-pkg/ 9:0x2 uncore Joules*2.32831e-10 @0" },
	{ "slots", "error -2: PMU cpu_atom has no event 'slots'" },
	{ "cpu_core/cycles/", "error -2: PMU cpu_atom has no event 'cpu_core/cycles/'" },
};

static const struct parse_row merged[] = {
	{ "cycles", "cycles 0:0xa00000000 @16-23 | cycles 0:0x400000000 @0-15 +0" },
	{ "cycles:u", "cycles:u 0:0xa00000000 !k !h @16-23 | cycles:u 0:0x400000000 !k !h @0-15 +0" },
	{ "cycles/name=c/", "c 0:0xa00000000 @16-23 | c 0:0x400000000 @0-15 +0" },
	{ "cs,cycles", "cs 1:0x3 | cycles 0:0xa00000000 @16-23 | cycles 0:0x400000000 @0-15 +1" },
	{ "cpu_core/cycles/", "cpu_core/cycles/ 0:0x400000000 @0-15" },
};

static const struct parse_row on_imc_1[] = {
	{ "imc/event=1/", "imc/event=1/ 21:0x1 uncore @0,56" },
	{ "cs,cas_count_read", "cs 1:0x3 | cas_count_read 21:0xcf05 uncore MiB*6.10352e-05 @0,56" },
	{ "cycles", "error -2: PMU uncore_imc_1 has no event 'cycles'" },
};

static void limits_to_a_core_type(void **state)
{
	static const char *const names[] = { "atom", "cpu_atom" };
	struct tacho *t = open_tree("hybrid");

	(void)state;
	for (size_t i = 0; i < countof(names); i++) {
		assert_int_equal(tacho_set_event_scope(t, TACHO_OPTS(tacho_event_scope, .cpu_type = names[i]), NULL),
				 0);
		check_rows(t, 0, on_atom, countof(on_atom));
	}
	tacho_close(t);
}

static void adds_core_types_up(void **state)
{
	struct tacho *t = open_tree("hybrid");

	(void)state;
	assert_int_equal(tacho_set_event_scope(t, TACHO_OPTS(tacho_event_scope, .merge_cores = true), NULL), 0);
	check_rows(t, 0, merged, countof(merged));
	tacho_close(t);
}

static void limits_to_a_pmu(void **state)
{
	struct tacho *t = open_tree("spr");

	(void)state;
	assert_int_equal(tacho_set_event_scope(t, TACHO_OPTS(tacho_event_scope, .pmu = "uncore_imc_1"), NULL), 0);
	check_rows(t, 0, on_imc_1, countof(on_imc_1));
	tacho_close(t);
}

static void refuses_unknown_names(void **state)
{
	struct tacho *t = open_tree("hybrid");
	struct tacho_error e = { 0 };

	(void)state;
	assert_int_equal(tacho_set_event_scope(t, TACHO_OPTS(tacho_event_scope, .cpu_type = "big"), &e), -ENOENT);
	assert_string_equal(e.message, "there is no core type 'big'");
	assert_string_equal(e.hint, "core PMUs of this machine: cpu_atom, cpu_core");
	assert_int_equal(tacho_set_event_scope(t, TACHO_OPTS(tacho_event_scope, .pmu = "powr"), &e), -ENOENT);
	assert_string_equal(e.hint, "did you mean 'power'?");
	tacho_close(t);
}

/* In a VM without a PMU, cpu/cycles/ is an unsupported event, not an error; so is cycles of core type cpu. */
static void knows_the_missing_cpu(void **state)
{
	static const struct parse_row rows[] = { { "instructions", "instructions 0:0x1" } };
	struct tacho *t = open_tree("none");

	(void)state;
	assert_int_equal(tacho_set_event_scope(t, TACHO_OPTS(tacho_event_scope, .cpu_type = "cpu"), NULL), 0);
	check_rows(t, 0, rows, countof(rows));
	assert_int_equal(tacho_set_event_scope(t, TACHO_OPTS(tacho_event_scope, .cpu_type = "core"), NULL), -ENOENT);
	tacho_close(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(limits_to_a_core_type), cmocka_unit_test(adds_core_types_up),
		cmocka_unit_test(limits_to_a_pmu), cmocka_unit_test(refuses_unknown_names),
		cmocka_unit_test(knows_the_missing_cpu),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
