/*
 * cli/core/fast_format.h against printf: all lengths, and the numbers at their borders.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "cli/core/fast_format.h"

#include <stdio.h>

typedef unsigned long long ull;

/* Powers of 10 and 16 with their neighbours, zero and the largest. */
static size_t numbers(uint64_t *out)
{
	size_t n = 0;

	out[n++] = 0;
	out[n++] = UINT64_MAX;
	for (uint64_t base = 10; base <= 16; base += 6)
		for (uint64_t power = 1, before = 0; power > before; before = power, power *= base)
			for (int off = -1; off <= 1; off++)
				out[n++] = power + (uint64_t)off;
	return n;
}

static void check(const char *at, const char *end, const char *want)
{
	assert_int_equal((size_t)(end - at), strlen(want));
	assert_memory_equal(at, want, strlen(want));
}

static void decimal(void **state)
{
	uint64_t all[256];
	size_t n = numbers(all);
	char text[64], want[64];

	for (size_t i = 0; i < n; i++)
		for (int width = 0; width <= 16; width++) {
			snprintf(want, sizeof(want), "%*llu", width, (ull)all[i]);
			check(text, format_dec(text, all[i], (unsigned)width, ' '), want);
			snprintf(want, sizeof(want), "%0*llu", width, (ull)all[i]);
			check(text, format_dec(text, all[i], (unsigned)width, '0'), want);
		}
	for (unsigned v = 0; v < 100000000; v += 977) {
		snprintf(want, sizeof(want), "%u", v);
		check(text, format_dec(text, v, 0, ' '), want);
	}
	for (unsigned v = 0; v < 1000000; v += 7) {
		snprintf(want, sizeof(want), "%06u", v);
		check(text, format_dec6(text, v), want);
	}
}

static void hexadecimal(void **state)
{
	uint64_t all[256];
	size_t n = numbers(all);
	char text[64], want[64];

	for (size_t i = 0; i < n; i++) {
		snprintf(want, sizeof(want), "%16llx", (ull)all[i]);
		check(text, format_address16(text, all[i]), want);
		check(text, format_hex(text, all[i], 16), want);
		snprintf(want, sizeof(want), "%llx", (ull)all[i]);
		check(text, format_hex_short(text, all[i]), want);
		check(text, format_hex(text, all[i], 0), want);
	}
}

static void roomy(void **state)
{
	char from[400], to[400];

	for (size_t i = 0; i < sizeof(from); i++)
		from[i] = (char)i;
	for (size_t n = 0; n < 300; n++) {
		memset(to, 'x', sizeof(to));
		assert_ptr_equal(format_bytes_slack(to, from, n), to + n);
		assert_memory_equal(to, from, n);
		assert_int_equal(to[n + FORMAT_SLACK], 'x');
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(decimal), cmocka_unit_test(hexadecimal), cmocka_unit_test(roomy),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
