/*
 * Known mistakes of other readers of vendors' lists, tested down to the attr that the kernel gets:
 * events found by a part of their name, ignored fields, formats of which only the first range is
 * used, sample periods in counts, missing PMU instances, and cores, sockets and CPUs that are numbered unlike
 * those of the current machine. One test for each.
 */
#include "fake_kernel.h"

#include "count/evset_internal.h"

struct bench {
	struct fake_machine machine;
	struct fake_kernel kernel;
	struct tacho *t;
	struct tacho_evset *set;
	struct tacho_error e;
	char list[256];
	unsigned next_type;
};

static void bench_init(struct bench *b, const char *events)
{
	memset(b, 0, sizeof(*b));
	b->next_type = 20;
	fake_machine_init(&b->machine);
	fake_file(&b->machine, "list.json", events);
	snprintf(b->list, sizeof(b->list), "%s/list.json", b->machine.dir);
	setenv("XDG_CACHE_HOME", b->machine.dir, 1);
	for (int cpu = 0; cpu < 4; cpu++) {	/* packages 0 and 9 */
		char path[128];

		snprintf(path, sizeof(path), "sys/devices/system/cpu/cpu%d/topology/physical_package_id", cpu);
		fake_file(&b->machine, path, cpu < 2 ? "0\n" : "9\n");
		snprintf(path, sizeof(path), "sys/devices/system/cpu/cpu%d/topology/core_id", cpu);
		fake_file(&b->machine, path, cpu % 2 ? "1\n" : "0\n");
	}
}

/* `format`: "event=config:0-7 umask=config:8-15". */
static void add_pmu(struct bench *b, const char *name, const char *cpus, const char *format)
{
	char path[160], text[200], *rest = text, *one;
	bool core = strncmp(name, "cpu", 3) == 0;

	snprintf(path, sizeof(path), "sys/bus/event_source/devices/%s/type", name);
	snprintf(text, sizeof(text), "%u\n", strcmp(name, "cpu") ? b->next_type++ : 4u);
	fake_file(&b->machine, path, text);
	if (cpus) {
		snprintf(path, sizeof(path), "sys/bus/event_source/devices/%s/%s", name, core ? "cpus" : "cpumask");
		fake_file(&b->machine, path, cpus);
	}
	snprintf(text, sizeof(text), "%s", format);
	while ((one = strsep(&rest, " "))) {
		char *key = strsep(&one, "=");

		snprintf(path, sizeof(path), "sys/bus/event_source/devices/%s/format/%s", name, key);
		fake_file(&b->machine, path, one);
	}
}

static void bench_open(struct bench *b, const char *spec)
{
	b->kernel = (struct fake_kernel){ .version = 612, .privileged = true, .n_hardware = 4 };
	b->t = fake_context(&b->machine, &b->kernel);
	b->kernel.has_pmu = true;
	if (tacho_eventlist_add(b->t, b->list, &b->e) < 0)
		fail_msg("%s", b->e.message);
	assert_int_equal(tacho_evset_new(&b->set, b->t), 0);
	if (tacho_evset_add(b->set, spec, &b->e) < 0)
		fail_msg("%s", b->e.message);
	assert_true(tacho_evset_open(b->set, TACHO_OPTS(tacho_evset_opts, .all_cpus = true), &b->e) > 0);
}

static void bench_done(struct bench *b)
{
	tacho_evset_free(b->set);
	tacho_close(b->t);
	fake_machine_done(&b->machine);
}

/* The i-th open file descriptor. */
static const struct fake_fd *opened(const struct bench *b, unsigned i)
{
	for (size_t k = 0; k < FAKE_FDS; k++)
		if (b->kernel.fds[k].used && i-- == 0)
			return &b->kernel.fds[k];
	fail_msg("so many descriptors are not open");
	return NULL;
}

#define CORE "event=config:0-7 umask=config:8-15 cmask=config:24-31"

/* 1: a name matches as a whole, even if it is the beginning of another one. */
static void whole_names_match(void **state)
{
	struct tacho_evset *other;
	struct tacho_error e = { 0 };
	struct bench b;

	bench_init(&b, "[{\"EventName\": \"BR_MISP_RETIRED.ALL_BRANCHES_PEBS\", \"EventCode\": \"0xc5\", \"UMask\": \"0x04\"},"
		   "{\"EventName\": \"BR_MISP_RETIRED.ALL_BRANCHES\", \"EventCode\": \"0xC5\", \"UMask\": \"0x00\"}]");
	add_pmu(&b, "cpu", NULL, CORE);
	bench_open(&b, "BR_MISP_RETIRED.ALL_BRANCHES,br_misp_retired.all_branches_pebs");
	assert_int_equal(opened(&b, 0)->attr.config, 0xc5);
	assert_int_equal(opened(&b, 4)->attr.config, 0x4c5);
	assert_int_equal(tacho_evset_new(&other, b.t), 0);
	assert_int_equal(tacho_evset_add(other, "BR_MISP_RETIRED.ALL_BRANCHES_", &e), -ENOENT);
	assert_int_equal(tacho_evset_add(other, "BR_MISP_RETIRED", &e), -ENOENT);
	tacho_evset_free(other);
	bench_done(&b);
}

/* 2: masks beyond the first eight bits, ports and classes reach the kernel. */
static void long_masks_reach_the_kernel(void **state)
{
	struct bench b;

	bench_init(&b, "[{\"EventName\": \"MISS_DRD\", \"Unit\": \"CHA\", \"EventCode\": \"0x35\", \"UMask\": \"0x01\","
		   " \"UMaskExt\": \"0xc817fe\"},"
		   "{\"EventName\": \"PART2\", \"Unit\": \"IIO\", \"EventCode\": \"0x83\", \"UMask\": \"0x04\","
		   " \"PortMask\": \"0x4\", \"FCMask\": \"0x07\", \"UMaskExt\": \"0x70040\"}]");
	add_pmu(&b, "uncore_cha_0", "0", "event=config:0-7 umask=config:8-15,32-55");
	add_pmu(&b, "uncore_iio_0", "0", "event=config:0-7 umask=config:8-15 ch_mask=config:36-43 fc_mask=config:44-46");
	bench_open(&b, "MISS_DRD,PART2");
	assert_true(opened(&b, 0)->attr.config == 0xc817fe00000135ULL);
	assert_true(opened(&b, 1)->attr.config == 0x704000000483ULL);
	bench_done(&b);
}

/* 3: a value is spread over all ranges of its format. */
static void ranges_are_all_used(void **state)
{
	struct bench b;

	bench_init(&b, "[{\"EventName\": \"EXT\", \"Unit\": \"QPI LL\", \"EventCode\": \"0x38\", \"ExtSel\": \"1\"}]");
	add_pmu(&b, "uncore_qpi_0", "0", "event=config:0-7,21 umask=config:8-15");
	bench_open(&b, "EXT");
	assert_int_equal(opened(&b, 0)->attr.config, 0x200038);
	bench_done(&b);
}

/* 4: the period that a list recommends is for sampling; counting uses none. */
static void counts_have_no_period(void **state)
{
	struct bench b;

	bench_init(&b, "[{\"EventName\": \"PERIOD\", \"EventCode\": \"0x3c\", \"SampleAfterValue\": \"2000003\"}]");
	add_pmu(&b, "cpu", NULL, CORE);
	bench_open(&b, "PERIOD");
	assert_int_equal(opened(&b, 0)->attr.config, 0x3c);
	assert_int_equal(opened(&b, 0)->attr.sample_period, 0);
	assert_false(opened(&b, 0)->attr.flags & PERF_ATTR_FREQ);
	bench_done(&b);
}

/* 5: every instance, also of a unit with an underscore in its name; and no PMU that only looks like one. */
static void instances_are_found(void **state)
{
	struct bench b;

	bench_init(&b, "[{\"EventName\": \"ARB\", \"Unit\": \"HAC_ARB\", \"EventCode\": \"0x80\"},"
		   "{\"EventName\": \"CHA\", \"Unit\": \"CHA\", \"EventCode\": \"0x1\"}]");
	add_pmu(&b, "uncore_hac_arb_0", "0", "event=config:0-7");
	add_pmu(&b, "uncore_hac_arb_1", "0", "event=config:0-7");
	add_pmu(&b, "uncore_cha_0", "0", "event=config:0-7");
	add_pmu(&b, "uncore_cha_11", "0", "event=config:0-7");
	add_pmu(&b, "uncore_chacms_0", "0", "event=config:0-7");
	bench_open(&b, "ARB,CHA");
	assert_int_equal(fake_n_open(&b.kernel), 4);
	assert_int_equal(opened(&b, 0)->attr.type, 20);
	assert_int_equal(opened(&b, 1)->attr.type, 21);
	assert_int_equal(opened(&b, 2)->attr.type, 22);
	assert_int_equal(opened(&b, 3)->attr.type, 23);
	bench_done(&b);
}

/* 6: two core types; a mapfile in the list's directory says which one the list is for. */
static void cores_of_two_kinds(void **state)
{
	struct bench b;

	bench_init(&b, "[{\"EventName\": \"SMALL\", \"EventCode\": \"0x10\", \"UMask\": \"0x2\"}]");
	fake_file(&b.machine, "mapfile.csv", "GenuineIntel-6-97,V1,/list.json,hybridcore,0x20,0x000001,Atom\n");
	add_pmu(&b, "cpu_core", "0-1", CORE);
	add_pmu(&b, "cpu_atom", "2-3", CORE);
	bench_open(&b, "SMALL");
	assert_int_equal(fake_n_open(&b.kernel), 2);
	assert_int_equal(opened(&b, 0)->attr.type, 21);
	assert_int_equal(opened(&b, 0)->attr.config, 0x210);
	assert_int_equal(opened(&b, 0)->cpu, 2);
	assert_int_equal(opened(&b, 1)->cpu, 3);
	bench_done(&b);
}

/* 7 and 8: packages may have any number, and be read by any of their CPUs. */
static void readers_are_those_of_the_cpumask(void **state)
{
	const struct tacho_sum *rows;
	struct bench b;

	bench_init(&b, "[{\"EventName\": \"CAS\", \"Unit\": \"iMC\", \"EventCode\": \"0x4\", \"UMask\": \"0x3\"}]");
	add_pmu(&b, "uncore_imc_0", "1,3", "event=config:0-7 umask=config:8-15");
	bench_open(&b, "CAS");
	assert_int_equal(fake_n_open(&b.kernel), 2);
	assert_int_equal(opened(&b, 0)->cpu, 1);
	assert_int_equal(opened(&b, 1)->cpu, 3);
	assert_int_equal(opened(&b, 0)->pid, -1);
	assert_true(tacho_evset_event(b.set, 0)->system_wide);
	assert_int_equal(tacho_evset_start(b.set), 0);
	fake_advance(&b.kernel, 1000000, 1);
	assert_true(tacho_evset_read(b.set, &b.e) >= 0);
	assert_int_equal(tacho_evset_sums(b.set, TACHO_OPTS(tacho_sums_opts, .per = TACHO_PER_SOCKET), &rows), 2);
	assert_int_equal(rows[0].place.socket, 0);
	assert_int_equal(rows[1].place.socket, 9);
	assert_int_equal(rows[1].count, 1000);
	bench_done(&b);
}

/* 9: a filter's value is the upper half of config1. */
static void filters_are_the_upper_half(void **state)
{
	struct bench b;

	bench_init(&b, "[{\"EventName\": \"FILTER\", \"Unit\": \"CHA\", \"EventCode\": \"0x35\", \"UMask\": \"0x21\","
		   " \"Filter\": \"Filter1\", \"FILTER_VALUE\": \"0x40433\"}]");
	add_pmu(&b, "uncore_cha_0", "0", "event=config:0-7 umask=config:8-15");
	bench_open(&b, "FILTER");
	assert_int_equal(opened(&b, 0)->attr.config, 0x2135);
	assert_true(opened(&b, 0)->attr.config1 == 0x4043300000000ULL);
	bench_done(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(whole_names_match), cmocka_unit_test(long_masks_reach_the_kernel),
		cmocka_unit_test(ranges_are_all_used), cmocka_unit_test(counts_have_no_period),
		cmocka_unit_test(instances_are_found), cmocka_unit_test(cores_of_two_kinds),
		cmocka_unit_test(readers_are_those_of_the_cpumask), cmocka_unit_test(filters_are_the_upper_half),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
