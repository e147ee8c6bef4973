/* count/expr.c and count/metric.c: the expression language and the built-in table. */
#include "base/str.h"

#include <tacho/metric.h>

#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include <stdio.h>

static double event_value(void *arg, const char *name)
{
	if (strcmp(name, "a") == 0)
		return 6;
	if (strcmp(name, "b-c") == 0)
		return 4;
	if (strcmp(name, "cpu/x=1/u") == 0)
		return 11;
	if (strcmp(name, "zero") == 0)
		return 0;
	return NAN;
}

static double literal_value(void *arg, const char *name)
{
	return strcmp(name, "one") == 0 ? 1 : strcmp(name, "none") == 0 ? 0 : NAN;
}

static const struct tacho_metric_env env = { .size = sizeof(env), .event = event_value,
					     .literal = literal_value };

static void values(void **state)
{
	static const struct { const char *expr; double value; } cases[] = {
		{ "1 + 2 * 3", 7 }, { "(1 + 2) * 3", 9 }, { "10 - 2 - 3", 5 }, { "-a + 7", 1 },
		{ "a / b\\-c", 1.5 }, { "a % b\\-c", 2 }, { "1e9", 1e9 }, { "2.5e-1", 0.25 },
		{ "a if #one else b\\-c", 6 }, { "a if #none else b\\-c", 4 },
		{ "1 if a < 3 else 2 if a < 7 else 3", 2 }, { "a > 5 & 1", 1 }, { "0 | 0", 0 },
		{ "1 ^ 1", 0 }, { "min(a, b\\-c)", 4 }, { "max(a, b\\-c)", 6 },
		{ "d_ratio(a, zero)", 0 }, { "has_event(a)", 1 }, { "has_event(nope)", 0 },
		{ "cpu@x\\=1@u", 11 }, { "--1", 1 }, { "[b-c] + [cpu/x=1/u]", 15 }, { "0x10 + 1", 17 },
		{ "6 & 3", 2 }, { "6 | 3", 7 }, { "6 ^ 3", 5 }, { "2 && 1", 1 }, { "2 & 1", 0 },
		{ "0 || 4", 1 }, { "1 | 2 ^ 3 & 2", 1 | (2 ^ (3 & 2)) }, { "a > 5 & a < 7", 1 },
		{ "a >= 6", 1 }, { "a > = 6", 1 }, { "a <= 5", 0 }, { "a == 6", 1 }, { "a = 6", 1 },
		{ "a != 6", 0 }, { "2 - -3", 5 }, { "7 if a == 6 else nope", 7 }, { "1 - 2 * 3 % 4", -1 },
		{ "(1 if 0 else 2) if (0 if 1 else 1) else (3 if 1 else 4)", 3 },
		{ "min(1, 2 if a else 3) + max(-1, -2)", 0 }, { "5 if has_event([b-c]) else 6", 5 },
	};

	for (size_t i = 0; i < countof(cases); i++) {
		double v = -99;

		assert_int_equal(tacho_metric_eval(cases[i].expr, &env, &v, NULL), 0);
		if (v != cases[i].value)
			fail_msg("%s gives %g", cases[i].expr, v);
	}
}

static void missing_values(void **state)
{
	static const char *const exprs[] = { "nope + 1", "a / zero", "a % zero", "NaN", "#unknown",
					     "1 if #unknown else 2", "min(a, nope)" };

	for (size_t i = 0; i < countof(exprs); i++) {
		double v = 0;

		assert_int_equal(tacho_metric_eval(exprs[i], &env, &v, NULL), 0);
		if (!isnan(v))
			fail_msg("%s gives %g", exprs[i], v);
	}
}

static void refusals(void **state)
{
	static const struct { const char *expr; int column; const char *part; } cases[] = {
		{ "", 0, "unexpected end" }, { "1 +", 3, "unexpected end" }, { "(1", 2, "never closed" },
		{ "1 2", 2, "text after its end" }, { "nofn(1)", 0, "unknown function" },
		{ "min(1)", 5, "too few" }, { "min(1,2,3)", 8, "too many" }, { "1 if 2", 6, "else" },
		{ "1 + $", 4, "does not belong" }, { "1.2.3", 0, "malformed" }, { "0x", 0, "malformed" },
		{ "[", 0, "never closed" }, { "1 + []", 4, "empty" }, { "has_event(1 +)", 12, "never closed" },
		{ "has_event(a, b)", 12, "too many" }, { "source_count()", 13, "does not belong" },
		{ "strcmp_cpuid_str( )", 17, "too few" }, { "# 1 +", 5, "unexpected end" }, { "a ! b", 2, "text after" },
	};

	for (size_t i = 0; i < countof(cases); i++) {
		struct tacho_error e = { 0 };
		double v;

		assert_int_equal(tacho_metric_eval(cases[i].expr, &env, &v, &e), -EINVAL);
		if (e.column != cases[i].column || !strstr(e.message, cases[i].part))
			fail_msg("'%s': column %d, %s", cases[i].expr, e.column, e.message);
	}
}

static void nesting_is_bounded(void **state)
{
	char deep[4096];
	double v;

	memset(deep, '(', sizeof(deep) - 1);
	deep[sizeof(deep) - 1] = '\0';
	assert_int_equal(tacho_metric_eval(deep, &env, &v, NULL), -EINVAL);
	memset(deep, '-', sizeof(deep) - 1);
	assert_int_equal(tacho_metric_eval(deep, &env, &v, NULL), -EINVAL);
}

/* A long expression has many operations, but needs no deep stack. */
static void long_texts(void **state)
{
	size_t n = 300000;
	char *text = malloc((2u << 20) + 8);
	struct tacho_error e = { 0 };
	struct tacho_expr *x;
	double v = 0;

	assert_non_null(text);
	for (size_t i = 0; i < n; i++)
		memcpy(text + 2 * i, "1+", 3);
	memcpy(text + 2 * n, "1", 2);
	assert_int_equal(tacho_metric_eval(text, &env, &v, &e), -EINVAL);
	assert_non_null(strstr(e.message, "operations"));
	memcpy(text + 200000, "1", 2);
	assert_int_equal(tacho_metric_eval(text, &env, &v, NULL), 0);
	assert_true(v == 100001);
	memset(text, ' ', 2u << 20);
	text[2u << 20] = '\0';
	assert_int_equal(tacho_metric_eval(text, &env, &v, &e), -EINVAL);
	assert_non_null(strstr(e.message, "longer than"));
	for (size_t i = 0; i < 2000; i++)
		snprintf(text + 6 * i, 8, "n%04zu+", i);
	assert_int_equal(tacho_expr_new(&x, text, &e), -EINVAL);
	assert_non_null(strstr(e.message, "too many names"));
	free(text);
}

static double answer(void *arg, enum tacho_input kind, const char *name)
{
	return kind == TACHO_INPUT_CPUID ? strcmp(name, "0x00000000410fd0c0") == 0 :
	       kind == TACHO_INPUT_SOURCE_COUNT ? 4 : strcmp(name, "zero") == 0;
}

/* The list of inputs, and computing with an array of their values. */
static void inputs_by_place(void **state)
{
	static const char *const names[] = { "zero", "#one", "?a", "*a", "=0x00000000410fd0c0" };
	const struct tacho_metric_env asking = { .size = sizeof(asking), .event = event_value,
						 .literal = literal_value, .ask = answer };
	const struct tacho_expr_input *in;
	const double values[] = { 10, 20, 30, 40, 50 };
	struct tacho_expr *x;

	assert_int_equal(tacho_expr_new(&x, "zero + #one * zero + has_event(a) + source_count(a) + "
					"strcmp_cpuid_str(0x00000000410fd0c0)", NULL), 0);
	assert_int_equal(tacho_expr_inputs(x, &in), countof(names));
	for (size_t i = 0; i < countof(names); i++) {
		assert_int_equal(in[i].kind, i);
		assert_string_equal(in[i].name, names[i] + (i > 0));
	}
	assert_true(tacho_expr_compute(x, values) == 10 + 20 * 10 + 30 + 40 + 50);
	assert_true(tacho_expr_value(x, &asking) == 0 + 1 * 0 + 0 + 4 + 1);
	tacho_expr_free(x);
	assert_int_equal(tacho_expr_new(&x, "1 + 2", NULL), 0);
	assert_true(tacho_expr_compute(x, NULL) == 3);
	tacho_expr_free(x);
}

static int note_event(void *arg, const char *event)
{
	strncat(arg, event, 100);
	strncat(arg, " ", 2);
	return 0;
}

static void events_needed(void **state)
{
	char names[256] = "";

	assert_int_equal(tacho_metric_events("x / (y if #one else z) + x", &env, note_event, names,
					     NULL), 0);
	assert_string_equal(names, "x y ");
	names[0] = '\0';
	assert_int_equal(tacho_metric_events("(p if q else r) if #none else (s if t > 1 else u)", &env,
					     note_event, names, NULL), 0);
	assert_string_equal(names, "s t u ");
	names[0] = '\0';
	assert_int_equal(tacho_metric_events("(w if has_event(nope) else a) + (1 if #unknown else v)", &env,
					     note_event, names, NULL), 0);
	assert_string_equal(names, "a ");
}

static int check_metric(void *arg, const struct tacho_metric *m)
{
	double v;

	assert_int_equal(tacho_metric_eval(m->expr, &env, &v, NULL), 0);
	if (m->threshold)
		assert_int_equal(tacho_metric_eval(m->threshold, &env, &v, NULL), 0);
	assert_non_null(m->desc);
	assert_true(m->scale > 0);
	return 0;
}

static void the_table(void **state)
{
	struct tacho_error e;

	assert_true(tacho_metric_each(NULL, check_metric, NULL, &e) > 10);
	assert_int_equal(tacho_metric_each("insn_per_cycle", check_metric, NULL, &e), 1);
	assert_int_equal(tacho_metric_each("TopdownL1", check_metric, NULL, &e), 4);
	assert_int_equal(tacho_metric_each("CPUs_utilised", check_metric, NULL, &e), -ENOENT);
	assert_non_null(strstr(e.hint, "CPUs_utilized"));
}

struct matches {
	bool found;
	struct tacho_expr *expr;
};

static int64_t find_some(void *arg, const char *event)
{
	if (strcmp(event, "duration_time") == 0)
		return TACHO_METRIC_NO_COUNTER;
	return strcmp(event, "instructions") == 0 ? 3 : strcmp(event, "cycles") == 0 || strcmp(event, "cpu-cycles") == 0 ? 7 :
								TACHO_METRIC_NOT_COUNTED;
}

static int match_some(void *arg, const struct tacho_metric *m, struct tacho_expr **expr,
		      const struct tacho_metric_event *events, size_t n_events)
{
	struct matches *found = arg;

	for (size_t i = 0; i < n_events; i++)
		assert_int_equal(events[i].index, find_some(NULL, events[i].name));
	assert_null(strstr(m->expr, "branches"));
	if (strcmp(m->name, "insn_per_cycle") == 0) {
		assert_int_equal(n_events, 2);
		found->found = true;
		found->expr = *expr;
		*expr = NULL;
	}
	return 0;
}

static int end_search(void *arg, const struct tacho_metric *m, struct tacho_expr **expr,
		      const struct tacho_metric_event *events, size_t n_events)
{
	return -ECANCELED;
}

/* Only metrics whose events are all counted are found; the expression may be kept. */
static void metrics_of_counted_events(void **state)
{
	struct matches found = { 0 };
	struct tacho_metric_matcher m = { .size = sizeof(m), .find = find_some, .match = match_some, .arg = &found };

	assert_int_equal(tacho_metric_match(&m), 0);
	assert_true(found.found);
	tacho_expr_free(found.expr);
	m.match = end_search;
	assert_int_equal(tacho_metric_match(&m), -ECANCELED);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values), cmocka_unit_test(missing_values), cmocka_unit_test(refusals),
		cmocka_unit_test(nesting_is_bounded), cmocka_unit_test(long_texts),
		cmocka_unit_test(inputs_by_place), cmocka_unit_test(events_needed),
		cmocka_unit_test(the_table),
		cmocka_unit_test(metrics_of_counted_events),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
