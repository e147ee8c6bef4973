/*
 * Every allocation of a session in the browser fails once: the browser continues or ends, and nothing leaks (checked when
 * run under the sanitizers).
 */
#include "browser_support.h"

#include "nomem.h"

static const int keys[] = { '+', KEY_IS_DOWN, 'e', 'E', KEY_IS_END, 't', 'd', KEY_IS_ESC, '/', 'm',
	KEY_IS_ENTER, KEY_IS_ENTER, KEY_IS_ESC, 'C', 'V', 'F', 'o', KEY_IS_DOWN, KEY_IS_ENTER, 'i', 'q',
	'h', 'x', 'x', 'L', '1', KEY_IS_ENTER, KEY_IS_RIGHT, 'k', KEY_IS_ESC, '0', 'a', 'E', 'q' };

static void each_fails(bool hierarchy)
{
	struct stage s;
	unsigned long n;

	stage_small(&s);
	s.opts.hierarchy = hierarchy;
	fail_at = (unsigned long)-1;
	count = 0;
	assert_int_equal(stage_press(&s, keys, countof(keys)), 0);
	n = count;
	assert_true(n > 100);
	for (unsigned long i = 1; i <= n; i++) {
		int err;

		s.screen.rows = 12;
		s.screen.cols = 80;
		count = 0;
		fail_at = i;
		err = stage_press(&s, keys, countof(keys));
		fail_at = 0;
		assert_true(err == 0 || err == -ENOMEM);
	}
	stage_end(&s);
}

static void each_allocation_fails_once(void **state)
{
	(void)state;
	each_fails(false);
	each_fails(true);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(each_allocation_fails_once) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
