/*
 * Filters of samples: how they are encoded for the BPF program, what is refused, and which fields samples need.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>
#include <errno.h>
#include <string.h>

#include "base/defs.h"
#include "event/sample_filter.h"
#include "record/perf_abi.h"

static const struct sys no_system;

static int parse(struct sample_filter *f, const char *text, struct tacho_error *e)
{
	memset(f, 0, sizeof(*f));
	return sample_filter_parse(f, &no_system, text, "x", e);
}

static void one_comparison(void **state)
{
	static const struct { const char *text; struct sample_filter_term term; } rows[] = {
		{ "period > 1000", { .field = FILTERED_PERIOD, .op = FILTER_GT, .value = 1000 } },
		{ "ip<0xffffffff00000000", { .field = FILTERED_IP, .op = FILTER_LT, .value = 0xffffffff00000000 } },
		{ " cpu  !=  3 ", { .field = FILTERED_CPU, .op = FILTER_NE, .value = 3 } },
		{ "addr & 0x3f", { .field = FILTERED_ADDR, .op = FILTER_AND, .value = 0x3f } },
		{ "uid == 1000", { .field = FILTERED_UID, .op = FILTER_EQ, .value = 1000 } },
		{ "weight1 >= 30", { .field = FILTERED_WEIGHT, .op = FILTER_GE, .mask = 0xffffffff, .value = 30 } },
		{ "ins_lat <= 9", { .field = FILTERED_WEIGHT, .op = FILTER_LE, .shift = 32, .mask = 0xffff, .value = 9 } },
		{ "mem_op == store", { .field = FILTERED_DATA_SRC, .op = FILTER_EQ, .mask = 0x1f, .value = 4 } },
		{ "mem_lvl > l3", { .field = FILTERED_DATA_SRC, .op = FILTER_GT, .shift = 33, .mask = 0xf, .value = 3 } },
		{ "mem_lvl == ram", { .field = FILTERED_DATA_SRC, .op = FILTER_EQ, .shift = 33, .mask = 0xf, .value = 13 } },
		{ "mem_snoop & peer", { .field = FILTERED_SNOOP, .op = FILTER_AND, .value = 64 } },
		{ "mem_dtlb == l2_miss", { .field = FILTERED_DATA_SRC, .op = FILTER_EQ, .shift = 26, .mask = 0x7f, .value = 20 } },
		{ "mem_hops == 0x2", { .field = FILTERED_DATA_SRC, .op = FILTER_EQ, .shift = 43, .mask = 7, .value = 2 } },
	};

	for (size_t i = 0; i < countof(rows); i++) {
		struct sample_filter_term want = rows[i].term;
		struct sample_filter f;

		want.ends_group = 1;
		assert_int_equal(parse(&f, rows[i].text, NULL), 0);
		assert_int_equal(f.n, 1);
		assert_memory_equal(&f.terms[0], &want, sizeof(want));
	}
}

/* "," is and, "||" is or and binds stronger; a second filter must be true as well. */
static void groups(void **state)
{
	struct sample_filter f;

	assert_int_equal(parse(&f, "period>1, cpu==1 || cpu == 2 ,ip>0||pid==5||tid==6", NULL), 0);
	assert_int_equal(f.n, 6);
	for (size_t i = 0; i < f.n; i++)
		assert_int_equal(f.terms[i].ends_group, i == 0 || i == 2 || i == 5);
	assert_int_equal(sample_filter_parse(&f, &no_system, "uid==0", "x", NULL), 0);
	assert_int_equal(f.n, 7);
	assert_int_equal(f.terms[6].field, FILTERED_UID);
	assert_int_equal(f.terms[6].ends_group, 1);
}

static void refused(void **state)
{
	static const struct { const char *text; int column; const char *hint; } rows[] = {
		{ "", 0, "FIELD OPERATOR VALUE" }, { "perod > 1", 0, "did you mean 'period'?" }, { "period", 6, "operators are" },
		{ "period = 1", 7, "operators are" }, { "period > ", 9, "numbers are" }, { "cpu > x", 6, "numbers are" },
		{ "mem_op == lod", 10, "'na', 'load'" }, { "ip > 1 pid < 2", 7, "joined by a comma" }, { "ip>1,", 5, "FIELD OPERATOR" },
		{ "ip>1 || ", 8, "FIELD OPERATOR" }, { "ip > 0x10000000000000000", 5, "numbers are" },
	};
	struct sample_filter f;
	char text[2048] = "ip>1";

	for (size_t i = 0; i < countof(rows); i++) {
		struct tacho_error e = { .column = -1 };

		assert_int_equal(parse(&f, rows[i].text, &e), -EINVAL);
		assert_int_equal(e.column, rows[i].column);
		assert_non_null(strstr(e.hint, rows[i].hint));
	}
	for (unsigned i = 1; i < SAMPLE_FILTER_TERMS; i++)
		strcat(text, ",ip>1");
	assert_int_equal(parse(&f, text, NULL), 0);
	strcat(text, ",ip>1");
	assert_int_equal(parse(&f, text, NULL), -EINVAL);
}

static void needs(void **state)
{
	struct sample_filter f;
	struct sample_filter_need need;

	assert_int_equal(parse(&f, "ip > 0 || cpu == 1, weight2 > 3", NULL), 0);
	assert_true(sample_filter_lacks(&f, PERF_SAMPLE_IP, &need));
	assert_string_equal(need.field, "cpu");
	assert_string_equal(need.sample_type, "PERF_SAMPLE_CPU");
	assert_string_equal(need.option, "--sample-cpu");
	assert_true(sample_filter_lacks(&f, PERF_SAMPLE_IP | PERF_SAMPLE_CPU | PERF_SAMPLE_WEIGHT, &need));
	assert_string_equal(need.sample_type, "PERF_SAMPLE_WEIGHT_STRUCT");
	assert_false(sample_filter_lacks(&f, PERF_SAMPLE_IP | PERF_SAMPLE_CPU | PERF_SAMPLE_WEIGHT_STRUCT, &need));
	assert_int_equal(parse(&f, "period > 0, uid == 0", NULL), 0);
	assert_false(sample_filter_lacks(&f, 0, &need));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_comparison),
		cmocka_unit_test(groups),
		cmocka_unit_test(refused),
		cmocka_unit_test(needs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
