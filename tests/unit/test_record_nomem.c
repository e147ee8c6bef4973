/*
 * Lets every allocation of a record's text and JSON fail once: the result is NULL, and nothing leaks
 * (checked when run under the sanitizers).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "record/perf_abi.h"
#include "nomem.h"
#include "wire.h"

/* Lets the first, the second ... allocation fail, until one run succeeds. */
static unsigned fail_each(char *(*show)(const struct tacho_record *, const struct tacho_layout *))
{
	static struct wire wire;
	struct tacho_layout lay = { .sample_type = PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_RAW };
	struct copy c;
	unsigned n = 0;

	wire_begin(&wire, false, TACHO_RECORD_SAMPLE, 2);
	put8(&wire, 40);
	for (unsigned i = 0; i < 40; i++)
		put8(&wire, 0x1000 + i);
	put4(&wire, 12), put8(&wire, 1), put4(&wire, 2);
	c = wire_copy(&wire, wire.n, 0);
	for (bool failed = true; failed; n++) {
		char *text;

		count = 0;
		fail_at = n + 1;
		text = show(&c.rec, &lay);
		failed = count >= fail_at;
		fail_at = 0;
		assert_int_equal(text == NULL, failed);
		free(text);
	}
	free(c.block);
	return n;
}

static void each_allocation_fails(void **state)
{
	assert_true(fail_each(tacho_record_text) > 2);
	assert_true(fail_each(tacho_record_json) > 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(each_allocation_fails) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
