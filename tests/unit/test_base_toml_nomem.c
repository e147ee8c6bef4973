/* base/toml.c with the n-th allocation failing, for every n: returns -ENOMEM and leaks nothing. */
#include "base/toml.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#include "nomem.h"

static const char text[] =
	"a.b.c = \"some text that is long enough to make the buffer of the reader grow more than once "
	"....................................................................................\"\n"
	"[x.y]\nk1=1\nk2=2\nk3=3\nk4=4\nk5=5\nk6=6\nk7=7\nk8=8\nk9=9\nk10=10\nk11=11\nk12=12\nk13=13\n"
	"k14=14\nk15=1.5\nlist=[1, {a = 'b', c.d = 1979-05-27}]\n[[p]]\n[[p]]\n\"q\" = true\n";

static void every_allocation_may_fail(void **state)
{
	unsigned long n_failed = 0;

	for (fail_at = 1;; fail_at++) {
		struct tacho_error e = { 0 };
		struct toml doc;
		int err;

		count = 0;
		err = toml_parse(&doc, STR_LIT(text), &e);
		if (!err) {
			toml_done(&doc);
			break;
		}
		assert_int_equal(err, -ENOMEM);
		assert_int_equal(e.code, -ENOMEM);
		n_failed++;
	}
	fail_at = 0;
	assert_true(n_failed > 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(every_allocation_may_fail) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
