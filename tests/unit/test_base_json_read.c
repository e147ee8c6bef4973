/*
 * The JSON parser: tokens as a line of text, and the positions of errors.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/json_read.h"

static void expect(const char *text, const char *want)
{
	static const char *const names[] = { "BAD", "", "{", "[", "end", "key ", "str ", "num ", "word " };
	char *copy = strdup(text);
	struct json_in in = { .text = copy, .n = strlen(text) };
	struct buf got = { 0 };
	enum json_token token;
	struct str s;

	do {
		s = (struct str){ 0 };
		token = json_next(&in, &s);
		if (token != JSON_IN_DONE)
			buf_printf(&got, "%s%s%.*s", got.n ? " " : "", names[token], token ? (int)s.n : 0, s.s ? s.s : "");
	} while (token > JSON_IN_DONE);
	if (token == JSON_IN_BAD) {
		unsigned line, column;

		assert_non_null(in.why);
		json_position(&in, &line, &column);
		buf_printf(&got, " %u:%u", line, column);
		assert_int_equal(json_next(&in, &s), JSON_IN_BAD);
	}
	assert_string_equal(got.bytes, want);
	buf_done(&got);
	free(copy);
}

static void tokens(void **state)
{
	expect("[]", "[ end");
	expect(" {} ", "{ end");
	expect("{\"a\": 1, \"b\":[true, null,-1.5e+3]}", "{ key a num 1 key b [ word true word null num -1.5e+3 end end");
	expect("\"a\\n\\u00e9\\ud83d\\ude00\\\"x\"", "str a\n\xc3\xa9\xf0\x9f\x98\x80\"x");
	expect("0", "num 0");
}

static void mistakes(void **state)
{
	expect("", "BAD 1:1");
	expect("[1,]", "[ num 1 BAD 1:4");
	expect("{\"a\" 1}", "{ BAD 1:6");
	expect("{\"a\":1,}", "{ key a num 1 BAD 1:8");
	expect("[1 2]", "[ num 1 BAD 1:4");
	expect("[\n\"a", "[ BAD 2:3");
	expect("\"\\u0000\"", "BAD 1:8");
	expect("\"\\ud800x\"", "BAD 1:8");
	expect("\"a\tb\"", "BAD 1:3");
	expect("01", "num 0 BAD 1:2");
	expect("1.", "BAD 1:3");
	expect("nul", "BAD 1:1");
	expect("[}", "[ BAD 1:2");
	expect("{]", "{ BAD 1:2");
	expect("1 1", "num 1 BAD 1:3");
}

static void depth_is_bounded(void **state)
{
	char text[JSON_IN_DEPTH + 2];
	struct json_in in = { .text = text, .n = sizeof(text) };
	struct str s;
	size_t n = 0;

	memset(text, '[', sizeof(text));
	while (json_next(&in, &s) > JSON_IN_DONE)
		n++;
	assert_int_equal(n, JSON_IN_DEPTH);
	assert_string_equal(in.why, "values are nested too deeply");
}

static void values_are_skipped(void **state)
{
	char text[] = "{\"a\":{\"b\":[1,{\"c\":2}]},\"d\":3}";
	struct json_in in = { .text = text, .n = sizeof(text) - 1 };
	struct str s;

	assert_int_equal(json_next(&in, &s), JSON_IN_OBJECT);
	assert_int_equal(json_next(&in, &s), JSON_IN_KEY);
	assert_true(json_skip(&in, json_next(&in, &s)));
	assert_int_equal(json_next(&in, &s), JSON_IN_KEY);
	assert_true(str_is(s, "d"));
	assert_true(json_leave(&in));
	assert_int_equal(json_next(&in, &s), JSON_IN_DONE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tokens), cmocka_unit_test(mistakes),
		cmocka_unit_test(depth_is_bounded), cmocka_unit_test(values_are_skipped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
