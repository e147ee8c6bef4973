/* agent/core/condition.c and the pure half of budget.c. */
#include "agent/core/condition.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#include "agent/core/budget.h"

static const struct {
	const char *text;
	int column;		/* -1: valid */
	enum condition_func func;
	enum condition_op op;
	const char *event;
	double limit;
	uint64_t for_ns;
	size_t n_labels;
} rows[] = {
	{ "rate(context-switches) > 50000 for 5s", -1, CONDITION_RATE, CONDITION_GT, "context-switches",
	  50000, 5000000000, 0 },
	{ "value(resident_bytes{source=\"agent\"}) >= 1e9", -1, CONDITION_VALUE, CONDITION_GE,
	  "resident_bytes", 1e9, 0, 2 },
	{ " max_rate( page-faults{cpu=0, source=x} )<10 for 250ms", -1, CONDITION_MAX_RATE, CONDITION_LT,
	  "page-faults", 10, 250000000, 4 },
	{ "max_value(sched:*) <= -1.5", -1, CONDITION_MAX_VALUE, CONDITION_LE, "sched:*", -1.5, 0, 0 },
	{ "rates(x) > 1", 0 }, { "rate x > 1", 5 }, { "rate() > 1", 5 }, { "rate(x > 1", 10 },
	{ "rate(x) 1", 8 }, { "rate(x) > many", 10 }, { "rate(x) > 1 during 5s", 12 },
	{ "rate(x) > 1 for ever", 16 }, { "rate(x{y}) > 1", 8 }, { "rate(x{y=\"z) > 1", 16 }, { "", 0 },
};

static void condition_rows(void **state)
{
	(void)state;
	for (size_t i = 0; i < countof(rows); i++) {
		struct tacho_error e = { .column = -1 };
		struct condition c = { 0 };
		int err = condition_parse(&c, rows[i].text, &e);

		if (rows[i].column >= 0) {
			assert_int_equal(err, -EINVAL);
			if (e.column != rows[i].column)
				fail_msg("%s: column %d", rows[i].text, e.column);
			continue;
		}
		if (err)
			fail_msg("%s: %s", rows[i].text, e.message);
		assert_int_equal(c.func, rows[i].func);
		assert_int_equal(c.op, rows[i].op);
		assert_string_equal(c.event, rows[i].event);
		assert_true(c.limit == rows[i].limit);
		assert_int_equal(c.for_ns, rows[i].for_ns);
		assert_int_equal(c.labels.n, rows[i].n_labels);
		condition_done(&c);
	}
}

static void condition_ops(void **state)
{
	struct condition c = { .op = CONDITION_GE, .limit = 5 };

	(void)state;
	assert_true(condition_holds(&c, 5));
	c.op = CONDITION_GT;
	assert_false(condition_holds(&c, 5));
	c.op = CONDITION_LT;
	assert_true(condition_holds(&c, 4.9));
	c.op = CONDITION_LE;
	assert_true(condition_holds(&c, 5));
}

static void budget_steps(void **state)
{
	unsigned calm = 0;

	(void)state;
	assert_int_equal(budget_step(3, 2, &calm), 1);
	assert_int_equal(budget_step(1.5, 2, &calm), 0);
	for (int i = 0; i < 5; i++)
		assert_int_equal(budget_step(0.5, 2, &calm), 0);
	assert_int_equal(budget_step(0.5, 2, &calm), -1);
	assert_int_equal(budget_step(0.5, 2, &calm), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(condition_rows),
		cmocka_unit_test(condition_ops),
		cmocka_unit_test(budget_steps),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
