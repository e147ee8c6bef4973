/* agent/config/cpu_groups.c: a table of values of collectd's Cores and their meaning. */
#include "agent/config/cpu_groups.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include <stdio.h>

enum { CPUS = 64 };

static int parse(struct cpu_groups *out, int n_cpus, struct tacho_error *e, const char *const *words)
{
	struct str list[600];
	size_t n = 0;

	for (; words[n]; n++)
		list[n] = str_of(words[n]);
	return cpu_groups_parse(out, list, n, n_cpus, e);
}

/* "label:0,1,2 label:4" */
static void show(const struct cpu_groups *c, struct buf *out)
{
	buf_clear(out);
	for (size_t g = 0; g < c->n; g++) {
		buf_printf(out, "%s%s:", g ? " " : "", c->v[g].label);
		for (size_t i = 0; i < c->v[g].n_cpus; i++)
			buf_printf(out, i ? ",%d" : "%d", c->v[g].cpus[i]);
	}
}

static const struct { const char *words[4]; const char *groups; int err; } rows[] = {
	{ { "0-3" }, "0-3:0,1,2,3", 0 },
	{ { "4,6" }, "4,6:4,6", 0 },
	{ { "[12-15]" }, "12:12 13:13 14:14 15:15", 0 },
	{ { "11-0xa" }, "11-0xa:10,11", 0 },
	{ { "0-10,20-18" }, "0-10,20-18:0,1,2,3,4,5,6,7,8,9,10,18,19,20", 0 },
	{ { "1,3,5-8,10,0x10-12" }, "1,3,5-8,10,0x10-12:1,3,5,6,7,8,10,12,13,14,15,16", 0 },
	{ { "010" }, "010:8", 0 },
	{ { "1,1,1-2" }, "1,1,1-2:1,2", 0 },
	{ { "0 ,1" }, NULL, -EINVAL },
	{ { "0, 1" }, "0, 1:0,1", 0 },
	{ { "5g" }, NULL, -EINVAL },
	{ { "a" }, NULL, -EINVAL },
	{ { "[0-15" }, NULL, -EINVAL },
	{ { "[0-3],7" }, "0:0 1:1 2:2 3:3", 0 },
	{ { "0", "" }, NULL, -EINVAL },
	{ { "64" }, NULL, -ERANGE },
	{ { "63" }, "63:63", 0 },
	{ { "0-3", "3" }, NULL, -EEXIST },
	{ { "1", "1" }, NULL, -EEXIST },
	{ { "0-3", "4,6", "[12-13]" }, "0-3:0,1,2,3 4,6:4,6 12:12 13:13", 0 },
	{ { " 2" }, " 2:2", 0 },
	{ { " [2]" }, "2:2", 0 },
	{ { "1,,2" }, "1,,2:1,2", 0 },
	{ { "08" }, NULL, -EINVAL },
	{ { "0x" }, NULL, -EINVAL },
	{ { "-1" }, NULL, -EINVAL },
	{ { "1-" }, NULL, -EINVAL },
	{ { "," }, NULL, -EINVAL },
	{ { "[]" }, NULL, -EINVAL },
	{ { "99999999999999999999" }, NULL, -EINVAL },
};

static void each_row(void **state)
{
	struct buf text = { 0 };

	for (size_t i = 0; i < countof(rows); i++) {
		struct tacho_error e = { 0 };
		struct cpu_groups c;
		int err = parse(&c, CPUS, &e, rows[i].words);

		if (err != rows[i].err)
			print_message("row %zu '%s'\n", i, rows[i].words[0]);
		assert_int_equal(err, rows[i].err);
		if (err) {
			assert_int_equal(e.code, err);
			assert_true(e.message[0]);
			continue;
		}
		show(&c, &text);
		assert_string_equal(text.bytes, rows[i].groups);
		assert_int_equal(c.notes.n, 0);
		cpu_groups_done(&c);
	}
	buf_done(&text);
}

static void empty_or_absent_is_every_cpu(void **state)
{
	struct buf text = { 0 };
	struct cpu_groups c;

	assert_int_equal(parse(&c, 3, NULL, (const char *const[]){ "", NULL }), 0);
	show(&c, &text);
	assert_string_equal(text.bytes, "0:0 1:1 2:2");
	cpu_groups_done(&c);
	assert_int_equal(parse(&c, 3, NULL, (const char *const[]){ NULL }), 0);
	show(&c, &text);
	assert_string_equal(text.bytes, "0:0 1:1 2:2");
	cpu_groups_done(&c);
	assert_int_equal(parse(&c, 513, NULL, (const char *const[]){ "", NULL }), -EINVAL);
	assert_int_equal(parse(&c, 512, NULL, (const char *const[]){ "", NULL }), 0);
	assert_int_equal(c.n, 512);
	cpu_groups_done(&c);
	buf_done(&text);
}

static void long_strings_are_cut_but_not_their_label(void **state)
{
	char word[200] = "0", longer[400];
	struct cpu_groups c;

	/* "0,0,...,0" of 127 characters, then ",1": the last is not read. */
	while (strlen(word) < CPU_GROUPS_TEXT_MAX)
		strcat(word, ",0");
	assert_int_equal(strlen(word), CPU_GROUPS_TEXT_MAX);
	snprintf(longer, sizeof(longer), "%s,1", word);
	assert_int_equal(parse(&c, CPUS, NULL, (const char *const[]){ longer, NULL }), 0);
	assert_int_equal(c.v[0].n_cpus, 1);
	assert_string_equal(c.v[0].label, longer);
	assert_int_equal(c.notes.n, 1);
	cpu_groups_done(&c);
	/* In brackets, the whole text is read. */
	snprintf(longer, sizeof(longer), "[%s,1]", word);
	assert_int_equal(parse(&c, CPUS, NULL, (const char *const[]){ longer, NULL }), 0);
	assert_int_equal(c.n, 2);
	assert_int_equal(c.notes.n, 0);
	cpu_groups_done(&c);
}

static void a_list_ends_after_512(void **state)
{
	struct cpu_groups c;

	assert_int_equal(parse(&c, 0, NULL, (const char *const[]){ "0-1000", NULL }), 0);
	assert_int_equal(c.v[0].n_cpus, 512);
	assert_int_equal(c.notes.n, 1);
	cpu_groups_done(&c);
	assert_int_equal(parse(&c, 0, NULL, (const char *const[]){ "0-511", NULL }), 0);
	assert_int_equal(c.notes.n, 0);
	cpu_groups_done(&c);
}

static void too_many_strings(void **state)
{
	struct str words[CPU_GROUPS_MAX + 1];
	struct cpu_groups c;

	for (size_t i = 0; i < countof(words); i++)
		words[i] = STR_LIT("0");
	assert_int_equal(cpu_groups_parse(&c, words, countof(words), 0, NULL), -EINVAL);
}

static void errors_point_at_the_place(void **state)
{
	struct tacho_error e;
	struct cpu_groups c;

	assert_int_equal(parse(&c, CPUS, &e, (const char *const[]){ "1", "2,5g", NULL }), -EINVAL);
	assert_int_equal(c.bad, 1);
	assert_int_equal(e.column, 3);
	assert_string_equal(e.message, "'2,5g' is not a list of CPUs: expected a digit, ',' or '-'");
	assert_int_equal(parse(&c, 4, &e, (const char *const[]){ "9", NULL }), -ERANGE);
	assert_string_equal(e.message, "there is no CPU 9: the last one is 3");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_row),
		cmocka_unit_test(empty_or_absent_is_every_cpu),
		cmocka_unit_test(long_strings_are_cut_but_not_their_label),
		cmocka_unit_test(a_list_ends_after_512),
		cmocka_unit_test(too_many_strings),
		cmocka_unit_test(errors_point_at_the_place),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
