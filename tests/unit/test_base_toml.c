/* base/toml.c: parsed values, and the position of errors. tests/toml checks the whole language with
 * the toml-test suite. */
#include "base/toml.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

static void values_and_places(void **state)
{
	static const char text[] = "# first\n[agent]\nlisten = [\"a\",\n  \"\xc3\xa9\"]\n"
				   "x.'y z' = 0x1f\nd = 1979-05-27\n[[source]]\n[[source]]\nn = -1_0\n";
	const struct toml_value *agent, *list, *sources;
	struct toml doc;

	assert_int_equal(toml_parse(&doc, str_of(text), NULL), 0);
	agent = toml_get(doc.root, STR_LIT("agent"));
	assert_int_equal(agent->at.line, 2);
	assert_int_equal(agent->at.column, 2);
	list = toml_get(agent, STR_LIT("listen"));
	assert_int_equal(list->kind, TOML_ARRAY);
	assert_int_equal(list->n, 2);
	assert_string_equal(list->last->text.s, "\xc3\xa9");
	assert_int_equal(list->last->at.line, 4);
	assert_int_equal(list->last->at.column, 3);
	assert_int_equal(toml_get(toml_get(agent, STR_LIT("x")), STR_LIT("y z"))->integer, 31);
	assert_int_equal(toml_get(agent, STR_LIT("d"))->kind, TOML_DATE);
	assert_string_equal(toml_get(agent, STR_LIT("d"))->text.s, "1979-05-27");
	sources = toml_get(doc.root, STR_LIT("source"));
	assert_int_equal(sources->n, 2);
	assert_int_equal(toml_get(sources->last, STR_LIT("n"))->integer, -10);
	assert_int_equal(sources->last->at.line, 8);
	assert_null(toml_get(doc.root, STR_LIT("none")));
	assert_null(toml_get(list, STR_LIT("none")));
	toml_done(&doc);
}

static const struct { const char *text; int line, column; const char *message; } refused[] = {
	{ "a = 1\na = 2", 2, 1, "'a' is already defined in line 1" },
	{ "a = 1\n[a]", 2, 2, "'a' is already defined in line 1" },
	{ "[a]\n[a]", 2, 2, "'a' is already defined in line 1" },
	{ "a = {}\na.b = 1", 2, 1, "'a' is already defined in line 1" },
	{ "a = ", 1, 5, "expected a value" },
	{ "a = yes", 1, 5, "'yes' is not a number, date or boolean" },
	{ "a = True", 1, 5, "'True' must be lower case" },
	{ "a = 012", 1, 5, "'012' is not a number, date or boolean" },
	{ "a = 9223372036854775808", 1, 5, "'9223372036854775808' does not fit into 64 bits" },
	{ "a = 0x8000000000000000", 1, 5, "'0x8000000000000000' does not fit into 64 bits" },
	{ "a = 2023-02-29", 1, 5, "'2023-02-29' is not a number, date or boolean" },
	{ "\xc3\xa9 = 1", 1, 1, "an unquoted key may only have letters, digits, '_' and '-'" },
	{ "'\xc3\xa9' = 1 x", 1, 9, "nothing may follow a value on its line" },
	{ "a = \"x\ny\"", 1, 5, "this string has no closing quote on its line" },
	{ "a = '''x\ny", 1, 5, "this string has no closing quote" },
	{ "a = \"\\q\"", 1, 6, "unknown escape; write a backslash as \\\\, or the text in single "
			       "quotes" },
	{ "a = \"\\ud800\"", 1, 6, "U+D800 is not a valid character" },
	{ "a = \"\\u0x1f\"", 1, 6, "\\u needs 4 hexadecimal digits" },
	{ "a = [1\n2]", 2, 1, "expected ',' or ']' in the array" },
	{ "a = [1,\n", 1, 5, "this array has no closing ']'" },
	{ "a = {b = 1\n}", 1, 11, "expected ',' or '}' on this line" },
	{ "[a\n", 1, 3, "expected ']'" },
	{ "[[a]\n", 1, 4, "expected ']]'" },
	{ "a b = 1", 1, 3, "expected '=' after the key 'a'" },
	{ "= 1", 1, 1, "an unquoted key may only have letters, digits, '_' and '-'" },
	{ "a.\n", 1, 3, "expected a key" },
	{ "# \x01", 1, 3, "a control character (0x01) in a comment" },
	{ "a = 1\nb = '\xff'", 2, 6, "the byte 0xff is not valid UTF-8" },
};

static void refusals_say_where_and_why(void **state)
{
	for (size_t i = 0; i < countof(refused); i++) {
		struct tacho_error e = { 0 };
		struct toml doc;

		assert_int_equal(toml_parse(&doc, str_of(refused[i].text), &e), -EINVAL);
		assert_string_equal(e.message, refused[i].message);
		assert_int_equal(doc.at.line, refused[i].line);
		assert_int_equal(doc.at.column, refused[i].column);
	}
}

static void depth_and_size_are_bounded(void **state)
{
	struct tacho_error e;
	struct buf text = { 0 };
	struct toml doc;

	buf_puts(&text, "a = ");
	buf_pad(&text, '[', TOML_DEPTH_MAX);
	buf_pad(&text, ']', TOML_DEPTH_MAX);
	assert_int_equal(toml_parse(&doc, buf_view(&text), &e), 0);
	toml_done(&doc);
	buf_clear(&text);
	buf_puts(&text, "a = ");
	buf_pad(&text, '[', 1 << 20);
	assert_int_equal(toml_parse(&doc, buf_view(&text), &e), -EINVAL);
	assert_string_equal(e.message, "values are nested deeper than 64 levels");
	buf_clear(&text);
	for (int i = 0; i < 1000; i++)
		buf_puts(&text, "a.");
	buf_puts(&text, "a = 1");
	assert_int_equal(toml_parse(&doc, buf_view(&text), &e), -EINVAL);
	buf_clear(&text);
	buf_pad(&text, '\n', TOML_TEXT_MAX + 1);
	assert_int_equal(toml_parse(&doc, buf_view(&text), &e), -EFBIG);
	buf_done(&text);
}

/* A hostile file may have a hundred thousand keys on as many lines, or values on one. */
static void large_tables_and_lines(void **state)
{
	struct buf text = { 0 };
	struct toml doc;

	for (int i = 0; i < 100000; i++)
		buf_printf(&text, "k%d = %d\n", i, i);
	buf_puts(&text, "list = [");
	for (int i = 0; i < 200000; i++)
		buf_puts(&text, "1,");
	buf_puts(&text, "]\n");
	assert_int_equal(toml_parse(&doc, buf_view(&text), NULL), 0);
	assert_int_equal(toml_get(doc.root, STR_LIT("k77777"))->integer, 77777);
	assert_int_equal(toml_get(doc.root, STR_LIT("list"))->n, 200000);
	assert_int_equal(toml_get(doc.root, STR_LIT("list"))->last->at.column, 9 + 2 * 199999);
	toml_done(&doc);
	buf_puts(&text, "k5 = 1\n");
	assert_int_equal(toml_parse(&doc, buf_view(&text), NULL), -EINVAL);
	assert_int_equal(doc.at.line, 100002);
	buf_done(&text);
}

static void one_value_alone(void **state)
{
	struct toml doc;

	assert_int_equal(toml_parse_value(&doc, STR_LIT(" [1, 'a'] # x"), NULL), 0);
	assert_int_equal(doc.root->n, 2);
	toml_done(&doc);
	assert_int_equal(toml_parse_value(&doc, STR_LIT("127.0.0.1:80"), NULL), -EINVAL);
	assert_int_equal(toml_parse_value(&doc, STR_LIT("1 2"), NULL), -EINVAL);
	assert_int_equal(toml_parse_value(&doc, STR_LIT(""), NULL), -EINVAL);
}

static void written_text_reads_back(void **state)
{
	static const char *const texts[] = { "", "plain", "a b", "\"q\" \\ \n\t\b", "\x01\x7f", "\xc3\xa9" };

	for (size_t i = 0; i < countof(texts); i++) {
		struct buf out = { 0 };
		struct toml doc;

		toml_key(&out, str_of(texts[i]));
		buf_puts(&out, " = ");
		toml_quote(&out, str_of(texts[i]));
		assert_int_equal(toml_parse(&doc, buf_view(&out), NULL), 0);
		assert_string_equal(doc.root->first->key.s, texts[i]);
		assert_string_equal(doc.root->first->text.s, texts[i]);
		toml_done(&doc);
		buf_done(&out);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values_and_places),
		cmocka_unit_test(refusals_say_where_and_why),
		cmocka_unit_test(depth_and_size_are_bounded),
		cmocka_unit_test(large_tables_and_lines),
		cmocka_unit_test(one_value_alone),
		cmocka_unit_test(written_text_reads_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
