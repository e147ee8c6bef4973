/* agent/profiler/trim_samples.c: samples keep the used part of their stack, and everything else. */
#include "agent/profiler/trim_samples.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

#define SAMPLE_TYPE (1u << 0 | 1u << 1 | 1u << 13)	/* IP, TID, STACK_USER */

static struct tacho_scratch scratch;
static const struct tacho_layout layout = { .sample_type = SAMPLE_TYPE };

static void put_u64(struct buf *b, uint64_t v)
{
	buf_put(b, &v, sizeof(v));
}

static void put_header(struct buf *b, uint32_t type, size_t body)
{
	uint64_t size = 8 + body;

	put_u64(b, type | size << 48);
}

static void put_sample(struct buf *b, uint64_t ip, size_t stack, size_t used)
{
	put_header(b, TACHO_RECORD_SAMPLE, 24 + stack + (stack ? 8 : 0));
	put_u64(b, ip);
	put_u64(b, 7ull << 32 | 6);
	put_u64(b, stack);
	for (size_t i = 0; i < stack; i++)
		buf_putc(b, (char)(i < used ? i * 7 + ip : 0xee));
	if (stack)
		put_u64(b, used);
}

static void put_comm(struct buf *b)
{
	put_header(b, TACHO_RECORD_COMM, 16);
	put_u64(b, 1);
	put_u64(b, 0x6564636261);
}

static void trims(void **state)
{
	static const struct { size_t stack, used, left; } cases[] = {
		{ 1024, 0, 8 }, { 1024, 1, 16 }, { 1024, 100, 112 }, { 1024, 1008, 1024 }, { 1024, 1024, 1024 }, { 0, 0, 0 },
		{ 65000, 20000, 20008 },
	};
	struct buf in = { 0 }, out = { 0 };
	struct sample_trimmer t = { .layout = layout, .scratch = &scratch, .out = &out };
	struct tacho_record_iter it;
	struct tacho_record rec;
	size_t n = 0;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		put_sample(&in, i, cases[i].stack, cases[i].used);
		put_comm(&in);
	}
	assert_int_equal(trim_samples(&t, in.bytes, in.n), 0);
	it = (struct tacho_record_iter){ .at = (const uint8_t *)out.bytes, .end = (const uint8_t *)out.bytes + out.n };
	for (; tacho_record_next(&it, &rec) > 0; n++) {
		size_t i = n / 2;
		struct tacho_sample s;

		if (n % 2) {
			assert_int_equal(rec.type, TACHO_RECORD_COMM);
			assert_string_equal((const char *)rec.bytes + 16, "abcde");
			continue;
		}
		assert_int_equal(tacho_sample_decode(&s, &rec, &layout, &scratch), 0);
		assert_int_equal(s.ip, i);
		assert_int_equal(s.tid, 7);
		assert_int_equal(s.n_stack, cases[i].left);
		assert_int_equal(s.n_stack_used, cases[i].used);
		for (size_t k = 0; k < cases[i].used; k++)
			assert_int_equal(s.stack[k], (uint8_t)(k * 7 + i));
	}
	assert_int_equal(n, 2 * sizeof(cases) / sizeof(*cases));
	buf_done(&in);
	buf_done(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(trims) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
