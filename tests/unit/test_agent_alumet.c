/* agent/config/alumet.c: [plugins.perf] of v0.9.5 and of later versions. */
#include "agent/config/config.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#include "agent_support.h"

struct wanted {
	const char *original, *spec, *name;
};

static void compare(const struct source_config *s, const struct wanted *w, size_t n)
{
	assert_int_equal(s->n_events, n);
	for (size_t i = 0; i < n; i++) {
		assert_string_equal(s->events[i].original, w[i].original);
		assert_string_equal(s->events[i].spec, w[i].spec);
		assert_string_equal(s->events[i].name, w[i].name);
	}
}

static void version_0_9_5(void **state)
{
	static const char text[] =
		"[plugins.perf]\npoll_interval = \"1s\"\nflush_interval = \"2s\"\n"
		"hardware_events = [\"REF_CPU_CYCLES\", \"CACHE_MISSES\", \"BRANCH_MISSES\"]\n"
		"software_events = [\"PAGE_FAULTS\", \"CONTEXT_SWITCHES\"]\ncache_events = [\"LL_READ_MISS\"]\n"
		"[plugins.csv]\noutput_path = \"x\"\n[plugins.rapl]\n";
	static const struct wanted w[] = {
		{ "REF_CPU_CYCLES", "ref-cycles:u", "perf_hardware_REF_CPU_CYCLES" },
		{ "CACHE_MISSES", "cache-misses:u", "perf_hardware_CACHE_MISSES" },
		{ "BRANCH_MISSES", "branch-misses:u", "perf_hardware_BRANCH_MISSES" },
		{ "PAGE_FAULTS", "page-faults:u", "perf_software_PAGE_FAULTS" },
		{ "CONTEXT_SWITCHES", "context-switches", "perf_software_CONTEXT_SWITCHES" },
		{ "LL_READ_MISS", "LLC-load-misses:u", "perf_cache_LL_READ_MISS" },
	};
	struct agent_config *c;
	struct tacho_error e;

	if (load(&c, text, &e))
		fail_msg("%s", e.message);
	assert_string_equal(c->kind, "Alumet");
	assert_int_equal(c->n_sources, 1);
	compare(&c->sources[0], w, countof(w));
	assert_int_equal(c->sources[0].naming, NAMING_ALUMET);
	assert_int_equal(c->sources[0].target, TARGET_SYSTEM);
	assert_int_equal(c->sources[0].per, PER_CPU);
	assert_int_equal(c->sources[0].interval_ns, 1000000000);
	assert_int_equal(c->sources[0].flush_ns, 2000000000);
	assert_int_equal(c->notes.n, 2);
	assert_non_null(strstr(c->notes.v[0], "csv, rapl"));
	config_free(c);
}

static void newer(void **state)
{
	static const char text[] =
		"max_update_interval = \"2s\"\n[plugins.perf]\nenabled = true\npoll_interval = \"1m 30s\"\n"
		"events = [\"instructions#u:k\", { event = \"INSTRUCTIONS#k\", rename = \"kernel_ins\" }, \"r1A8\", "
		"\"L1D_WRITE_ACCESS\", \"cpu_core/CYCLES\", \"uncore/r2f\", \"CPU_MIGRATIONS\"]\n";
	static const struct wanted w[] = {
		{ "instructions#u:k", "instructions:uk", "perf_instructions" },
		{ "INSTRUCTIONS#k", "instructions:k", "perf_kernel_ins" },
		{ "r1A8", "r1a8:u", "perf_r1a8" },
		{ "L1D_WRITE_ACCESS", "L1-dcache-stores:u", "perf_l1d_write_access" },
		{ "cpu_core/CYCLES", "cpu_core/CYCLES/u", "perf_cpu_core_cycles" },
		{ "uncore/r2f", "uncore/config=0x2f/u", "perf_uncore_r2f" },
		{ "CPU_MIGRATIONS", "cpu-migrations", "perf_cpu_migrations" },
	};
	struct agent_config *c;
	struct tacho_error e;

	if (load(&c, text, &e))
		fail_msg("%s", e.message);
	compare(&c->sources[0], w, countof(w));
	assert_int_equal(c->sources[0].interval_ns, 90000000000);
	assert_int_equal(c->sources[0].flush_ns, 90000000000);
	config_free(c);
}

static void without_events_its_defaults(void **state)
{
	static const struct wanted w[] = {
		{ "REF_CPU_CYCLES", "ref-cycles:u", "perf_ref_cpu_cycles" },
		{ "CACHE_MISSES", "cache-misses:u", "perf_cache_misses" },
		{ "BRANCH_MISSES", "branch-misses:u", "perf_branch_misses" },
		{ "LL_READ_MISS", "LLC-load-misses:u", "perf_ll_read_miss" },
	};
	struct agent_config *c;

	assert_int_equal(load(&c, "[plugins.perf]\n", NULL), 0);
	compare(&c->sources[0], w, countof(w));
	assert_int_equal(c->sources[0].interval_ns, 1000000000);
	assert_int_equal(c->sources[0].flush_ns, 5000000000);
	config_free(c);
	assert_int_equal(load(&c, "[plugins.perf]\nenable = false\n", NULL), 0);
	assert_int_equal(c->n_sources, 0);
	config_free(c);
	assert_int_equal(load(&c, "[plugins.csv]\n", NULL), 0);
	assert_int_equal(c->n_sources, 0);
	assert_non_null(strstr(c->notes.v[1], "[plugins.perf] is not there"));
	config_free(c);
}

static void names_of_libpfm_keep_their_place(void **state)
{
	struct agent_config *c;

	assert_int_equal(load(&c, "[plugins.perf]\nevents = [\"NO_CPU_HAS_THIS:ANY\", \"PAGE_FAULTS\"]\n", NULL),
			 0);
	assert_int_equal(c->sources[0].n_events, 2);
	assert_non_null(strstr(c->sources[0].events[0].refused, "libpfm"));
	assert_null(c->sources[0].events[1].refused);
	config_free(c);
}

static void the_environment_is_put_in_everywhere(void **state)
{
	struct agent_config *c;
	struct tacho_error e;

	setenv("TACHO_TEST_POLL", "\"250ms\"", 1);
	assert_int_equal(load(&c, "[plugins.perf]\npoll_interval = ${TACHO_TEST_POLL}\n# \\${X}\n", NULL), 0);
	assert_int_equal(c->sources[0].interval_ns, 250000000);
	config_free(c);
	assert_true(load(&c, "[plugins.perf]\npoll_interval = ${TACHO_TEST_NONE}\n", &e) < 0);
	assert_string_equal(message_of(&e), "test.conf: the environment variable 'TACHO_TEST_NONE' is not set");
}

static const struct refusal refused[] = {
	{ "[plugins.perf]\npoll_intervall = \"1s\"", "test.conf:2:1: [plugins.perf] has no key 'poll_intervall'",
	  "did you mean 'poll_interval'?" },
	{ "[plugins.perf]\npoll_interval = \"1 parsec\"", "test.conf:2:17: poll_interval: '1 parsec' is not a duration between 1ms and 1d", "" },
	{ "[plugins.perf]\npoll_interval = 1", "test.conf:2:17: a duration is an integer, but must be a string",
	  "" },
	{ "[plugins.perf]\nevents = [\"PAGE_FAULTS#uk\"]", "test.conf:2:11: 'uk' is not a modifier; the modifiers are u, k, h, H, G and I, separated by colons", "" },
	{ "[plugins.perf]\nevents = [\"A#u\", \"a#k\"]", "test.conf:2:18: two events have the metric name perf_a; give one of them another name with 'rename'", "" },
	{ "[plugins.perf]\nevents = [{ rename = \"x\" }]", "test.conf:2:11: an event must be a string or { event = ..., rename = ... }", "" },
	{ "[plugins.perf]\nevents = []\nhardware_events = []", "test.conf:1:10: [plugins.perf] mixes 'events' with the keys of Alumet v0.9.5", "" },
	{ "[plugins.perf]\nevents = 3", "test.conf:2:10: events must be an array", "" },
	{ "[plugins.perf]\na = ", "test.conf:2:5: expected a value", "" },
};

static void refusals_say_where_and_why(void **state)
{
	check_refusals(refused, countof(refused));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(version_0_9_5),
		cmocka_unit_test(newer),
		cmocka_unit_test(without_events_its_defaults),
		cmocka_unit_test(names_of_libpfm_keep_their_place),
		cmocka_unit_test(the_environment_is_put_in_everywhere),
		cmocka_unit_test(refusals_say_where_and_why),
	};

	return cmocka_run_group_tests(tests, dir_setup, dir_teardown);
}
