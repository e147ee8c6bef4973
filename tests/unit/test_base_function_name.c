/* Names of functions in lists and filters. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/buf.h"
#include "base/function_name.h"

static const struct { const char *list, *names; } lists[] = {
	{ "main", "main" },
	{ "a,b,c", "a|b|c" },
	{ "a,,b", "a||b" },
	{ "f(int, long),g", "f(int, long)|g" },
	{ "pair<int, int> g<int, long>(char (*)[2]),h", "pair<int, int> g<int, long>(char (*)[2])|h" },
	{ "A::operator<<,A::operator->,b", "A::operator<<|A::operator->|b" },
	{ "bool operator< <int>(A, B),c", "bool operator< <int>(A, B)|c" },
	{ "<fn(u8) -> u8 as F>::call,x", "<fn(u8) -> u8 as F>::call|x" },
	{ "half(,b", "half(|b" },		/* not the brackets of a name */
	{ "a),b", "a)|b" },
};

static void list_cut(void **state)
{
	for (size_t i = 0; i < countof(lists); i++) {
		struct str rest = str_of(lists[i].list), head;
		struct buf out = { 0 };

		for (bool first = true; function_name_cut(&rest, &head); first = false)
			buf_printf(&out, "%s%.*s", first ? "" : "|", STR(head));
		assert_string_equal(out.bytes, lists[i].names);
		buf_done(&out);
	}
}

static const struct { const char *asked, *name; bool is; } names[] = {
	{ "main", "main", true },
	{ "main", "main_loop", false },
	{ "", "main", false },
	{ "A::add", "A::add(int)", true },
	{ "A::add(int)", "A::add(int)", true },
	{ "A::add(int)", "A::add(double)", false },
	{ "add", "A::add(int)", false },
	{ "A", "A::add(int)", false },
	{ "work<int>", "int work<int>(int)", true },
	{ "work", "int work<int>(int)", false },
	{ "A::operator()", "A::operator()(int) const", true },
	{ "f", "f(int) [clone .cold]", true },
	{ "int", "f(int (*)(int))", false },
};

static void name_asked(void **state)
{
	for (size_t i = 0; i < countof(names); i++)
		assert_int_equal(function_name_is(str_of(names[i].asked), names[i].name), names[i].is);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(list_cut), cmocka_unit_test(name_asked) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
