/* collectd identifiers: both generations and ours, and names that could be mistaken for others. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <math.h>
#include <cmocka.h>

#include "agent/export/putval.h"

static struct registry registry;

static int setup(void **state)
{
	return registry_init(&registry);
}

static int teardown(void **state)
{
	registry_done(&registry);
	return 0;
}

static const struct series *make(enum naming naming, enum metric_kind kind, const char *event,
				 const char *source, struct label *labels, size_t n)
{
	const struct metric like = { .event = event, .name = "perf_x", .unit = "", .help = "x",
				     .kind = kind, .scale = 1, .naming = naming };
	const struct metric *m = registry_metric(&registry, &like);
	int64_t id = registry_add(&registry, &(struct series_desc){ m, source, labels, n, 1, 1 });

	assert_true(id > 0);
	return registry_get(&registry, (uint32_t)id);
}

static void assert_id(const struct series *s, const char *host, const char *want)
{
	struct buf b = { 0 };

	putval_identifier(&b, host, s);
	assert_string_equal(b.bytes, want);
	buf_done(&b);
}

#define LABELS(...) (struct label[]){ __VA_ARGS__ }, sizeof((struct label[]){ __VA_ARGS__ }) / sizeof(struct label)

static void test_generations(void **state)
{
	const struct series *s;

	s = make(NAMING_COLLECTD1, METRIC_COUNTER, "L2_RQSTS.MISS", "intel_pmu", LABELS({ "group", "0-3" }));
	assert_id(s, "h", "h/intel_pmu-0-3/counter-L2_RQSTS.MISS");
	s = make(NAMING_COLLECTD1, METRIC_COUNTER, "L2_RQSTS.MISS", "intel_pmu",
		 LABELS({ "group", "0" }, { "pmu", "cpu" }));
	assert_id(s, "h", "h/intel_pmu-0/counter-L2_RQSTS.MISS");
	s = make(NAMING_COLLECTD1, METRIC_COUNTER, "UNC_M_CAS_COUNT.RD", "intel_pmu",
		 LABELS({ "group", "0" }, { "pmu", "no_such_pmu_13" }));
	assert_id(s, "h", "h/intel_pmu-0/counter-UNC_M_CAS_COUNT.RD:pmu=no_such_pmu_13");
	s = make(NAMING_COLLECTD2, METRIC_COUNTER, "L2_RQSTS.MISS", "intel_pmu",
		 LABELS({ "group", "0-3" }, { "pmu", "cpu" }));
	assert_id(s, "h", "h/intel_pmu-0-3:cpu/pmu_counter-L2_RQSTS.MISS");
	s = make(NAMING_COLLECTD2, METRIC_COUNTER, "cycles", "intel_pmu", LABELS({ "cpu", "7" }));
	assert_id(s, "h", "h/intel_pmu-7/pmu_counter-cycles");
	/* DispatchMultiPmu: the type number in the name, four values. */
	s = make(NAMING_COLLECTD_TYPES, METRIC_COUNTER, "UNC_M_CAS_COUNT.RD", "intel_pmu",
		 LABELS({ "group", "0" }, { "pmu", "no_such_pmu_13" }));
	assert_id(s, "h", "h/intel_pmu-0/pmu_counter-UNC_M_CAS_COUNT.RD:pmu=no_such_pmu_13");
	s = make(NAMING_COLLECTD_TYPES, METRIC_COUNTER, "L2_RQSTS.MISS", "intel_pmu",
		 LABELS({ "group", "0-3" }, { "pmu", "cpu" }));
	assert_id(s, "h", "h/intel_pmu-0-3/pmu_counter-L2_RQSTS.MISS");
}

static void test_ours(void **state)
{
	const struct series *s;

	s = make(NAMING_TACHO, METRIC_COUNTER, "cycles", "hw", LABELS({ "core", "1" }, { "socket", "0" }));
	assert_id(s, "h", "h/tacho-hw-socket0-core1/pmu_counter-cycles");
	s = make(NAMING_TACHO, METRIC_COUNTER, "cycles", "hw", LABELS({ "source", "hw" }));
	assert_id(s, "h", "h/tacho-hw/pmu_counter-cycles");
	s = make(NAMING_ALUMET, METRIC_COUNTER, "r1a8", "hw", LABELS({ "cpu", "0" }, { "pmu", "cpu" }));
	assert_id(s, "h", "h/tacho-hw-cpu0:cpu/pmu_counter-r1a8");
	s = make(NAMING_TACHO, METRIC_GAUGE, "ipc", "hw", LABELS({ "pid", "7" }, { "comm", "sh" }));
	assert_id(s, "h", "h/tacho-hw-pid7-sh/gauge-ipc");
}

static void test_hostile(void **state)
{
	const struct series *s;
	char longest[400], other[400];
	struct buf a = { 0 }, b = { 0 };

	s = make(NAMING_TACHO, METRIC_COUNTER, "a/b\nPUTVAL x", "s", LABELS({ "cgroup", "/x/y" }));
	assert_id(s, "h/h", "h_h/tacho-s-_x_y/pmu_counter-a_b_PUTVAL x");
	memset(longest, 'x', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = '\0';
	memcpy(other, longest, sizeof(other));
	other[300] = 'y';
	putval_identifier(&a, longest, make(NAMING_COLLECTD2, METRIC_COUNTER, longest, "s",
					    LABELS({ "group", longest })));
	putval_identifier(&b, longest, make(NAMING_COLLECTD2, METRIC_COUNTER, other, "s",
					    LABELS({ "group", longest })));
	assert_int_equal(a.n, PUTVAL_PART_MAX * 3 + strlen("/intel_pmu-/pmu_counter-"));
	assert_string_not_equal(a.bytes, b.bytes);
	buf_done(&a);
	buf_done(&b);
}

static void test_lines(void **state)
{
	const struct series *two = make(NAMING_COLLECTD2, METRIC_COUNTER, "e", "s", LABELS({ "group", "a \"b\" \\" }));
	const struct series *gauge = make(NAMING_TACHO, METRIC_GAUGE, "g", "s", LABELS({ "cpu", "0" }));
	struct point p = { .count = UINT64_MAX, .raw = 2, .enabled_ns = 3, .running_ns = 4, .value = NAN };
	struct buf b = { 0 };

	putval_line(&b, "h", two, &p, 1700000000000000000 + 7000000, 1500000000);
	assert_string_equal(b.bytes, "PUTVAL \"h/intel_pmu-a \\\"b\\\" \\\\/pmu_counter-e\" interval=1.500 "
			    "1700000000.007:18446744073709551615:2:3:4\n");
	buf_clear(&b);
	putval_line(&b, "h", gauge, &p, 1000000000, 1000000000);
	p.value = 0.25;
	putval_line(&b, "h", gauge, &p, 1000000000, 1000000000);
	assert_string_equal(b.bytes, "PUTVAL \"h/tacho-s-cpu0/gauge-g\" interval=1.000 1.000:U\n"
			    "PUTVAL \"h/tacho-s-cpu0/gauge-g\" interval=1.000 1.000:0.25\n");
	buf_done(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_generations), cmocka_unit_test(test_ours),
		cmocka_unit_test(test_hostile), cmocka_unit_test(test_lines),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
