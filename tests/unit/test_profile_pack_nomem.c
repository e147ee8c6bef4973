/*
 * Every allocation of packing and unpacking fails once: -ENOMEM, and nothing leaks.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>

#include "pack_support.h"
#include "nomem.h"

static void each_fails(void **state)
{
	const struct tacho_profile_opts opts = { .size = sizeof(opts), .per_time = true, .per_cpu = true };
	struct tacho_profile *p, *q;
	struct buf whole = { 0 };
	int err;

	assert_int_equal(tacho_profile_new(&p, &opts, NULL), 0);
	pack_fill(p, 300);
	err = -ENOMEM;
	for (unsigned long n = 1; err; n++) {
		struct tacho_error e = { .column = -1 };

		buf_clear(&whole);
		whole.bad = false;
		count = 0;
		fail_at = n;
		err = tacho_profile_pack(p, NULL, pack_put, &whole, &e);
		fail_at = 0;
		assert_true(err == 0 || (err == -ENOMEM && e.code == -ENOMEM));
	}
	err = -ENOMEM;
	for (unsigned long n = 1; err; n++) {
		struct tacho_error e = { .column = -1 };

		assert_int_equal(tacho_profile_new(&q, &opts, NULL), 0);
		count = 0;
		fail_at = n;
		err = tacho_profile_unpack(q, whole.bytes, whole.n, NULL, &e);
		fail_at = 0;
		assert_true(err == 0 || (err == -ENOMEM && e.code == -ENOMEM));
		tacho_profile_free(q);
	}
	tacho_profile_free(p);
	buf_done(&whole);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(each_fails) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
