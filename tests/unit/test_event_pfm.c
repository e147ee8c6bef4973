/*
 * libpfm4's names: encodings for other CPUs, and the order in which names are searched for.
 */
#include "event_support.h"

#include <dlfcn.h>
#include <stdlib.h>

static const struct parse_row known[] = {
	{ "pfm::skx::INST_RETIRED:ANY_P", "pfm::skx::INST_RETIRED:ANY_P 4:0xc0" },
	{ "pfm::skx::inst_retired.any_p", "pfm::skx::inst_retired.any_p 4:0xc0" },
	{ "skx::L2_RQSTS:MISS:c=1:i", "skx::L2_RQSTS:MISS:c=1:i 4:0x1803f24" },
	{ "pfm::skx::L2_RQSTS:MISS:u", "pfm::skx::L2_RQSTS:MISS:u 4:0x3f24 !k" },
	{ "pfm::skx::MEM_INST_RETIRED:ALL_LOADS:k:precise=2",
	  "pfm::skx::MEM_INST_RETIRED:ALL_LOADS:k:precise=2 4:0x81d0 !u precise=2" },
	{ "pfm::skx::L2_RQSTS:MISS:mg:pinned", "pfm::skx::L2_RQSTS:MISS:mg:pinned 4:0x3f24 pinned !host" },
	{ "pfm::skx::L2_RQSTS:MISS:period=1000", "pfm::skx::L2_RQSTS:MISS:period=1000 4:0x3f24 period=1000" },
	{ "pfm::skx::L2_RQSTS:MISS:cpu=3", "pfm::skx::L2_RQSTS:MISS:cpu=3 4:0x3f24 @3" },
	{ "pfm::skx::OFFCORE_RESPONSE_0:DMND_DATA_RD:ANY_RESPONSE",
	  "pfm::skx::OFFCORE_RESPONSE_0:DMND_DATA_RD:ANY_RESPONSE 4:0x1b7 config1=0x10001" },
	{ "pfm::skx::MEM_TRANS_RETIRED:LOAD_LATENCY:ldlat=8",
	  "pfm::skx::MEM_TRANS_RETIRED:LOAD_LATENCY:ldlat=8 4:0x1cd config1=0x8" },
	{ "{pfm::skx::INST_RETIRED:ANY_P,cycles}",
	  "pfm::skx::INST_RETIRED:ANY_P 4:0xc0 {0/2} | cycles 0:0x0 {0/2}" },
	{ "pfm::skx::INST_RETIRED:ANY_P , cs", "pfm::skx::INST_RETIRED:ANY_P 4:0xc0 | cs 1:0x3" },
};

static void encodes(void **state)
{
	struct tacho *t = open_tree("none");

	(void)state;
	check_rows(t, 0, known, countof(known));
	tacho_close(t);
}

static const struct parse_row refused[] = {
	{ "pfm::nonsense", "error -2: libpfm4 refuses 'nonsense': event not found" },
	{ "pfm::", "error -22: pfm:: must be followed by the name of an event, of at most 255 letters" },
	{ "nothere::INST_RETIRED", "error -2: libpfm4 refuses 'nothere::INST_RETIRED': event not found" },
	{ "pfm::skx::L2_RQSTS:NOTHING", 
	  "error -22: libpfm4 refuses 'skx::L2_RQSTS:NOTHING': invalid event attribute" },
	/* A recorded tree is not of the CPU that libpfm4 runs on: it is not asked without its prefix. */
	{ "RETIRED_INSTRUCTIONS", "error -2: no event is called 'RETIRED_INSTRUCTIONS'" },
	{ "INST_RETIRED:ANY_P", "error -2: no group of tracepoints is called 'INST_RETIRED'" },
};

static void refuses(void **state)
{
	struct tacho *t = open_tree("none");

	(void)state;
	check_rows(t, 0, refused, countof(refused));
	tacho_close(t);
}

/* libpfm4 is used for names not found elsewhere. LIBPFM_FORCE_PMU selects a CPU it supports. */
static void last_resort(void **state)
{
	struct event_list list = { 0 };
	struct tacho_error e = { 0 };
	struct tacho *t = NULL;

	(void)state;
	assert_int_equal(tacho_open(&t, TACHO_OPTS(tacho_opts, .tracefs = TEST_DATA "/tracefs"), NULL), 0);
	assert_int_equal(event_parse(t, "BACLEARS,L2_RQSTS:MISS:c=1,BACLEARS.ANY:u,sched:sched_switch,cs", 0, &list,
				     &e), 5);
	assert_int_equal(list.v[0].attr.config, 0x1e6);
	assert_int_equal(list.v[1].attr.config, 0x1003f24);
	assert_string_equal(list.v[1].name, "L2_RQSTS:MISS:c=1");
	assert_int_equal(list.v[2].attr.config, 0x1e6);
	assert_true(list.v[2].attr.flags & PERF_ATTR_EXCLUDE_KERNEL);
	assert_int_equal(list.v[3].attr.type, PERF_TYPE_TRACEPOINT);
	assert_int_equal(list.v[4].attr.type, PERF_TYPE_SOFTWARE);
	event_list_done(&list);
	tacho_close(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(encodes), cmocka_unit_test(refuses), cmocka_unit_test(last_resort),
	};

	if (!dlopen("libpfm.so.4", RTLD_NOW)) {
		puts("libpfm.so.4 is not here");
		return 77;
	}
	setenv("LIBPFM_ENCODE_INACTIVE", "1", 1);
	setenv("LIBPFM_FORCE_PMU", "skx", 1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
