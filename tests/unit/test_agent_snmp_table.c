/* The SNMP tables: which rows, in which order, and the next cell of each. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "agent/export/snmp_table.h"

static struct registry registry;
static struct cpu_group first[] = { { .label = "4-7" }, { .label = "0" } }, second[] = { { .label = "0" },
									   { .label = "b" } };
static struct source_config sources[] = {
	{ .name = "one", .per = PER_GROUPS, .groups = first, .n_groups = 2 },
	{ .name = "two", .per = PER_GROUPS, .groups = second, .n_groups = 2 },
};
static struct agent_config config = { .sources = sources, .n_sources = 2 };
static struct snmp_view view;

static uint32_t add(const char *event, const char *label, const char *value, uint64_t count)
{
	const struct metric like = { .event = event, .name = "perf_x", .unit = "", .help = "x",
				     .kind = METRIC_COUNTER, .scale = 1 };
	struct label labels[] = { { label, (char *)value } };
	int64_t id = registry_add(&registry, &(struct series_desc){ registry_metric(&registry, &like), "one", labels, 1, 1, 1 });
	struct point p = { .series = (uint32_t)id, .count = count, .raw = count, .enabled_ns = 9, .running_ns = 8 };
	struct point_batch b = { .source = "one", .time_ns = 5, .points = &p, .n_points = 1 };

	assert_true(id > 0);
	registry_apply(&registry, &b);
	return (uint32_t)id;
}

static int setup(void **state)
{
	registry_init(&registry);
	view = (struct snmp_view){ .registry = &registry, .config = &config };
	return 0;
}

static int teardown(void **state)
{
	snmp_view_done(&view);
	registry_done(&registry);
	return 0;
}

/* A walk as text: "column.row=value ". */
static void walk(cell_fn *next, char *out, size_t size)
{
	struct cell c = { 0 };
	size_t n = 0;

	out[0] = '\0';
	while (next(&view, &c) && n < size) {
		if (c.kind == CELL_TEXT)
			n += (size_t)snprintf(out + n, size - n, "%u.%u=%s ", c.column, c.row, c.text);
		else
			n += (size_t)snprintf(out + n, size - n, "%u.%u=%llu ", c.column, c.row,
					      (unsigned long long)c.number);
	}
}

static void test_rows_in_order(void **state)
{
	char text[2000];
	struct cell c = { .column = 30, .row = 1 };

	add("instructions", "group", "0", 7);
	add("instructions", "group", "4-7", UINT64_MAX);
	add("cycles", "group", "b", 5);
	add("cycles:u", "group", "b", 6);
	add("emulation-faults", "group", "b", 0);
	walk(pmu_cell_next, text, sizeof(text));
	assert_string_equal(text, "1.1=1 1.2=2 1.3=3 2.1=4-7 2.2=0 2.3=b 29.3=5 30.1=18446744073709551615 "
			    "30.2=7 44.3=0 ");
	assert_true(pmu_cell_get(&view, &c));
	assert_true(c.number == UINT64_MAX && c.kind == CELL_COUNTER);
	c = (struct cell){ .column = 30, .row = 3 };
	assert_false(pmu_cell_get(&view, &c));
	c = (struct cell){ .column = 45, .row = 1 };
	assert_false(pmu_cell_get(&view, &c));
	c = (struct cell){ .column = UINT32_MAX, .row = UINT32_MAX };
	assert_false(pmu_cell_next(&view, &c));
	assert_false(event_cell_next(&view, &c));
}

/* CPUs in no group have rows after the groups, by number: an offline CPU does not move others. */
static void test_cpus_after_groups(void **state)
{
	char text[2000];

	add("page-faults", "cpu", "5", 3);
	add("page-faults", "cpu", "2", 4);
	add("page-faults", "cpu", "0", 9);
	walk(pmu_cell_next, text, sizeof(text));
	assert_string_equal(text, "1.1=1 1.2=2 1.3=3 1.6=6 1.9=9 2.1=4-7 2.2=0 2.3=b 2.6=2 2.9=5 40.2=9 40.6=4 "
			    "40.9=3 ");
}

static void test_other_groups(void **state)
{
	struct cpu_group group = { .label = "b" };
	struct source_config source = { .name = "s", .per = PER_GROUPS, .groups = &group, .n_groups = 1 };
	struct agent_config other = { .sources = &source, .n_sources = 1, .serial = 1 };
	char text[2000];

	add("cycles", "group", "b", 5);
	add("cycles", "group", "0", 6);
	walk(pmu_cell_next, text, sizeof(text));
	assert_string_equal(text, "1.1=1 1.2=2 1.3=3 2.1=4-7 2.2=0 2.3=b 29.2=6 29.3=5 ");
	view.config = &other;
	walk(pmu_cell_next, text, sizeof(text));
	assert_string_equal(text, "1.1=1 2.1=b 29.1=5 ");
}

static void test_events(void **state)
{
	char text[2000];
	uint32_t id = add("L2_RQSTS.MISS", "group", "0", 5);

	registry_set_state(&registry, add("x", "group", "0", 1), TACHO_UNSUPPORTED, "no");
	walk(event_cell_next, text, sizeof(text));
	assert_int_equal(id, 1);
	assert_string_equal(text, "2.1=L2_RQSTS.MISS 2.2=x 3.1=1 3.2=1 4.1=1 4.2=1 5.1=one 5.2=one 6.1=0 6.2=0 "
			    "7.1=1 7.2=4 8.1=5 9.1=5 10.1=9 11.1=8 ");
	registry_end(&registry, 1);
	walk(event_cell_next, text, sizeof(text));
	assert_string_equal(text, "2.2=x 3.2=1 4.2=1 5.2=one 6.2=0 7.2=4 ");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_rows_in_order, setup, teardown),
		cmocka_unit_test_setup_teardown(test_cpus_after_groups, setup, teardown),
		cmocka_unit_test_setup_teardown(test_other_groups, setup, teardown),
		cmocka_unit_test_setup_teardown(test_events, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
