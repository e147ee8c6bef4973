/* record/read.c: both layouts with every read_format, truncated at every byte. */
#include "record/read.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#include "record/perf_abi.h"

#define FORMATS 32

/* An independent encoder: value i is 100 + i, its id 200 + i, lost 300 + i. */
static size_t write_counts(uint64_t format, uint64_t n, uint64_t *out)
{
	bool group = format & PERF_FORMAT_GROUP;
	size_t at = 0;

	if (group)
		out[at++] = n;
	else
		out[at++] = 100;
	if (format & PERF_FORMAT_TOTAL_TIME_ENABLED)
		out[at++] = 5000;
	if (format & PERF_FORMAT_TOTAL_TIME_RUNNING)
		out[at++] = 4000;
	for (uint64_t i = 0; i < (group ? n : 1); i++) {
		if (group)
			out[at++] = 100 + i;
		if (format & PERF_FORMAT_ID)
			out[at++] = 200 + i;
		if (format & PERF_FORMAT_LOST)
			out[at++] = 300 + i;
	}
	return at * sizeof(uint64_t);
}

static void check(const struct read_view *v, uint64_t format, uint64_t n)
{
	assert_int_equal(v->n, n);
	assert_int_equal(v->enabled, format & PERF_FORMAT_TOTAL_TIME_ENABLED ? 5000 : 0);
	assert_int_equal(v->running, format & PERF_FORMAT_TOTAL_TIME_RUNNING ? 4000 : 0);
	for (uint64_t i = 0; i < n; i++) {
		assert_int_equal(read_view_value(v, i), 100 + i);
		assert_int_equal(read_view_id(v, i), format & PERF_FORMAT_ID ? 200 + i : 0);
		assert_int_equal(read_view_lost(v, i), format & PERF_FORMAT_LOST ? 300 + i : 0);
	}
}

static void every_format(void **state)
{
	uint64_t words[64];

	for (uint64_t format = 0; format < FORMATS; format++) {
		for (uint64_t n = 1; n <= (format & PERF_FORMAT_GROUP ? 5 : 1); n++) {
			size_t bytes = write_counts(format, n, words);
			struct cursor c = cursor_over(words, bytes, false);
			struct read_view v;

			assert_int_equal(bytes, read_bytes(format, n));
			assert_int_equal(read_view_take(&v, &c, format), 0);
			check(&v, format, n);
			assert_ptr_equal(c.at, c.end);
		}
	}
}

static void cut_off_anywhere(void **state)
{
	uint64_t words[64];

	for (uint64_t format = 0; format < FORMATS; format++) {
		size_t bytes = write_counts(format, 3, words);

		for (size_t n = 0; n < bytes; n++) {
			/* A heap copy of exactly n bytes: so that ASan finds reads past its end. */
			uint8_t *copy = malloc(n ? n : 1);
			struct cursor c;
			struct read_view v = { .n = 77 };

			memcpy(copy, words, n);
			c = cursor_over(copy, n, false);
			assert_int_equal(read_view_take(&v, &c, format), -EBADMSG);
			assert_int_equal(v.n, 77);	/* only written on success */
			free(copy);
		}
	}
}

static void lying_counts(void **state)
{
	uint64_t words[4] = { UINT64_MAX / 8, 1, 1, 1 };
	struct cursor c = cursor_over(words, sizeof(words), false);
	struct read_view v;

	assert_int_equal(read_view_take(&v, &c, PERF_FORMAT_GROUP), -EBADMSG);
	words[0] = UINT64_MAX;
	c = cursor_over(words, sizeof(words), false);
	assert_int_equal(read_view_take(&v, &c, PERF_FORMAT_GROUP | PERF_FORMAT_ID), -EBADMSG);
}

static void the_other_byte_order(void **state)
{
	uint64_t words[16];
	size_t bytes = write_counts(PERF_FORMAT_GROUP | PERF_FORMAT_ID, 2, words);
	struct cursor c;
	struct read_view v;

	for (size_t i = 0; i < bytes / 8; i++)
		words[i] = __builtin_bswap64(words[i]);
	c = cursor_over(words, bytes, true);
	assert_int_equal(read_view_take(&v, &c, PERF_FORMAT_GROUP | PERF_FORMAT_ID), 0);
	check(&v, PERF_FORMAT_GROUP | PERF_FORMAT_ID, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_format),
		cmocka_unit_test(cut_off_anywhere),
		cmocka_unit_test(lying_counts),
		cmocka_unit_test(the_other_byte_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
