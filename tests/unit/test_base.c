/* base/: strings, numbers, sets, maps, the JSON writer. */
#include "base/arena.h"
#include "base/cpuset.h"
#include "base/int_map.h"
#include "base/io.h"
#include "base/json.h"
#include "base/map.h"
#include "base/num.h"
#include "base/vec.h"

#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include <stdio.h>

static void globs(void **state)
{
	static const struct { const char *pattern, *text; bool hit; } cases[] = {
		{ "*", "", true }, { "sched_*", "sched_switch", true }, { "s?hed", "sched", true },
		{ "*a*b", "xxaxxb", true }, { "*a*b", "xxaxxbc", false }, { "[a-c]x", "bx", true },
		{ "[!a-c]x", "bx", false }, { "[", "[", true }, { "", "a", false },
		{ "a*a*a*a*a*a*b", "aaaaaaaaaaaaaaaaaaaaaaaaaaaa", false },
	};

	for (size_t i = 0; i < countof(cases); i++)
		assert_int_equal(str_glob(str_of(cases[i].pattern), str_of(cases[i].text)),
				 cases[i].hit);
}

/* What may be written to a terminal: UTF-8 without controls and without characters that change the direction of text. */
static void printable_text(void **state)
{
	static const struct { const char *text, *plain, *json; } cases[] = {
		{ "plain\ttext", "plain\ttext", "plain\\ttext" },
		{ "gr\xc3\xbc\xc3\x9f", "gr\xc3\xbc\xc3\x9f", "gr\xc3\xbc\xc3\x9f" },
		{ "\xe2\x82\xac \xf0\x9f\x94\xa5", "\xe2\x82\xac \xf0\x9f\x94\xa5", "\xe2\x82\xac \xf0\x9f\x94\xa5" },
		{ "a\x1b[31m\nb\x7f\r", "a?[31m?b??", "a\\u001b[31m\\nb\\u007f\\r" },
		{ "\xc2\x9b" "31m", "??31m", "\\u009b31m" },				/* C1 */
		{ "\x9b" "31m", "?31m", "\\ufffd31m" },				/* C1 in one byte */
		{ "\xc2\xa0x", "\xc2\xa0x", "\xc2\xa0x" },				/* the first after C1 */
		{ "a\xe2\x80\xae" "b", "a???b", "a\\u202eb" },			/* right-to-left override */
		{ "\xe2\x81\xa6\xe2\x81\xa9", "??????", "\\u2066\\u2069" },		/* isolates */
		{ "\xe2\x80\xa8\xe2\x80\x8f\xd8\x9c", "????????", "\\u2028\\u200f\\u061c" },
		{ "\xe2\x80\xa7\xe2\x80\xaf", "\xe2\x80\xa7\xe2\x80\xaf", "\xe2\x80\xa7\xe2\x80\xaf" },	/* their neighbours */
		{ "\xc0\x9b\xed\xa0\x80\xe2\x80", "???????", "\\ufffd\\ufffd\\ufffd\\ufffd\\ufffd\\ufffd\\ufffd" },
	};

	for (size_t i = 0; i < countof(cases); i++) {
		struct str text = str_of(cases[i].text);
		struct buf out = { 0 };
		struct arena arena = { 0 };
		bool plain = strcmp(cases[i].text, cases[i].plain) == 0;

		assert_int_equal(str_is_printable(text), plain);
		buf_text(&out, text);
		assert_string_equal(out.bytes, cases[i].plain);
		assert_string_equal(arena_text(&arena, text), cases[i].plain);
		buf_clear(&out);
		json_quote(&out, text);
		assert_true(out.n >= 2);
		out.bytes[out.n - 1] = '\0';
		assert_string_equal(out.bytes + 1, cases[i].json);
		arena_done(&arena);
		buf_done(&out);
	}
	assert_int_equal(str_printable_len(str_n("", 0)), 0);
	assert_int_equal(str_printable_len(str_n("\xe2\x82\xac", 2)), 0);	/* cut */
}

static void nearest(void **state)
{
	struct str_nearest near = { .word = STR_LIT("cylces") };

	str_nearest_try(&near, STR_LIT("branches"));
	str_nearest_try(&near, STR_LIT("cycles"));
	str_nearest_try(&near, STR_LIT("cylinders"));
	assert_true(str_is(near.best, "cycles"));
	assert_int_equal(near.distance, 1);
}

static void natural_order(void **state)
{
	assert_true(str_natcmp("cpu2", "cpu10") < 0);
	assert_true(str_natcmp("cpu10", "cpu10") == 0);
	assert_true(str_natcmp("imc_0", "imc") > 0);
}

static void numbers(void **state)
{
	uint64_t u = 7;
	int64_t i;
	double d;

	assert_int_equal(num_u64(STR_LIT("18446744073709551615"), &u), 0);
	assert_true(u == UINT64_MAX);
	assert_int_equal(num_u64(STR_LIT("18446744073709551616"), &u), -ERANGE);
	assert_int_equal(num_u64(STR_LIT(" 1"), &u), -EINVAL);
	assert_int_equal(num_u64(STR_LIT(""), &u), -EINVAL);
	assert_int_equal(num_u64(STR_LIT("0x1f"), &u), 0);
	assert_int_equal(u, 31);
	assert_int_equal(num_i64(STR_LIT("-9223372036854775808"), &i), 0);
	assert_true(i == INT64_MIN);
	assert_int_equal(num_double(STR_LIT("1.5e3"), &d), 0);
	assert_true(d == 1500);
	assert_int_equal(num_double(STR_LIT("nan"), &d), -EINVAL);
	assert_int_equal(num_bytes(STR_LIT("64K"), &u), 0);
	assert_int_equal(u, 65536);
	assert_int_equal(num_bytes(STR_LIT("99999999999G"), &u), -ERANGE);
	assert_int_equal(num_duration_ns(STR_LIT("1.5s"), &u), 0);
	assert_int_equal(u, 1500000000);
	assert_int_equal(num_duration_ns(STR_LIT("10ms"), &u), 0);
	assert_int_equal(u, 10000000);
	assert_int_equal(num_duration_ns(STR_LIT("10"), &u), -EINVAL);
	assert_true(num_muldiv(UINT64_MAX, 3, 3) == UINT64_MAX);
	assert_true(num_muldiv(UINT64_MAX, 4, 3) == UINT64_MAX);
	assert_int_equal(num_muldiv(10, 2, 3), 7);
	assert_int_equal(num_muldiv(10, 2, 0), 0);
}

static void fixed_numbers(void **state)
{
	static const struct { double v; unsigned decimals; } cases[] = {
		{ 0, 0 }, { 0, 2 }, { 1.5, 0 }, { 2.5, 0 }, { 0.994, 2 }, { 0.996, 2 }, { 9.999, 2 }, { -1.25, 1 },
		{ 123456789.123, 3 }, { 1e-9, 9 }, { 0.100205292, 9 }, { 1e14, 2 }, { 1e18, 2 }, { 18446744073709551615.0, 0 },
		{ -0.001, 2 }, { NAN, 2 }, { INFINITY, 1 }, { 12.5, 12 },
	};

	for (size_t i = 0; i < countof(cases); i++) {
		scoped(buf_done) struct buf ours = { 0 };
		char theirs[400];

		buf_fixed(&ours, cases[i].v, cases[i].decimals);
		snprintf(theirs, sizeof(theirs), "%.*f", (int)cases[i].decimals, cases[i].v);
		assert_string_equal(ours.bytes, theirs);
	}
}

static void cpu_lists(void **state)
{
	scoped(cpuset_done) struct cpuset set = { 0 };
	scoped(buf_done) struct buf text = { 0 };

	assert_int_equal(cpuset_parse(&set, STR_LIT("0-3,8,70-71\n")), 0);
	assert_int_equal(cpuset_count(&set), 7);
	cpuset_print(&set, &text);
	assert_string_equal(text.bytes, "0-3,8,70-71");
	assert_int_equal(cpuset_next(&set, 8), 70);
	assert_int_equal(cpuset_parse(&set, STR_LIT("3-1")), -EINVAL);
	assert_int_equal(cpuset_parse(&set, STR_LIT("1,,2")), -EINVAL);
	assert_int_equal(cpuset_parse(&set, STR_LIT("0-4000000000")), -ERANGE);
}

static void maps(void **state)
{
	struct map m = { 0 };
	struct arena a = { 0 };

	for (unsigned i = 0; i < 1000; i++) {
		char key[16];

		snprintf(key, sizeof(key), "k%u", i);
		assert_int_equal(map_put(&m, str_of(arena_str(&a, str_of(key))), i), 0);
	}
	assert_int_equal(m.n, 1000);
	assert_int_equal(*map_get(&m, STR_LIT("k517")), 517);
	assert_null(map_get(&m, STR_LIT("k1000")));
	map_done(&m);
	arena_done(&a);
}

static void json_text(void **state)
{
	scoped(buf_done) struct buf out = { 0 };
	struct json j = { .out = &out };

	json_begin(&j, '{');
	json_member(&j, "a\"b", str, "x\n\xff\xc3\xa9");
	json_member(&j, "n", double, 0.1);
	json_member(&j, "none", double, NAN);
	json_key(&j, "list");
	json_begin(&j, '[');
	json_u64(&j, UINT64_MAX);
	json_i64(&j, -1);
	json_bool(&j, true);
	json_end(&j);
	json_end(&j);
	assert_string_equal(out.bytes, "{\"a\\\"b\": \"x\\n\\ufffd\xc3\xa9\", \"n\": 0.1, \"none\": null,"
				       " \"list\": [18446744073709551615, -1, true]}");
}

struct words {
	uint64_t *v;
	size_t n, cap;
};

static struct words many_words(void)
{
	struct words w = { 0 };

	for (uint64_t i = 0; i < 300000; i++) {		/* more than a large one has before it is moved */
		uint64_t *at = vec_next(&w);

		assert_non_null(at);
		*at = i * i;
	}
	for (uint64_t i = 0; i < w.n; i++)
		assert_int_equal(w.v[i], i * i);
	return w;
}

/* Past the room that a large one gets at first. */
static void very_large_arrays(void **state)
{
	struct words w = { 0 };

	for (uint64_t i = 0; i < 9000000; i++) {
		uint64_t *at = vec_next(&w);

		assert_non_null(at);
		*at = ~i;
	}
	for (uint64_t i = 0; i < w.n; i += 1000)
		assert_int_equal(w.v[i], ~i);
	assert_true(w.cap >= w.n);
	vec_done(&w);
	assert_true(vec_reserve(&w, 200000) && w.cap >= 200000 && w.n == 0);
	vec_done(&w);
}

static void large_arrays(void **state)
{
	struct words w = many_words();
	void *before;

	vec_done(&w);
	large_enable_reuse();
	w = many_words();
	before = w.v;
	vec_done(&w);
#ifdef __GLIBC__
	w = many_words();
	assert_ptr_equal(w.v, before);
	vec_done(&w);
	w.v = large_alloc_zeroed((size_t)40 << 20);		/* less than what was kept will do */
	assert_ptr_equal(w.v, before);
	assert_true(w.v[0] == 0 && w.v[299999] == 0);
#endif
	free(before);
	assert_null(large_alloc(SIZE_MAX));
}

/* Reserving adds no elements and keeps the existing ones. */
static void room_of_arrays(void **state)
{
	struct words w = { 0 };

	assert_true(vec_reserve(&w, 1));
	*vec_next(&w) = 7;
	assert_true(vec_reserve(&w, 1000));
	assert_true(w.n == 1 && w.cap >= 1001 && w.v[0] == 7);
	memset(w.v + 1, 0, 1000 * sizeof(*w.v));
	vec_done(&w);
}

/* Whole, behind what is there, up to the limit; a file of /proc does not say how long it is. */
static void files(void **state)
{
	static const size_t sizes[] = { 0, 1, 4095, 4096, 4097, 8192, 3u << 20, (4u << 20) + 1 };
	char path[] = "/tmp/tacho-test-XXXXXX";
	scoped(closep) int fd = mkstemp(path);
	scoped(buf_done) struct buf bytes = { 0 }, want = { 0 };

	assert_true(fd >= 0);
	buf_pad(&want, 'x', sizes[countof(sizes) - 1]);
	for (size_t i = 0; i < countof(sizes); i++) {
		assert_int_equal(pwrite(fd, want.bytes, sizes[i], 0), sizes[i]);
		buf_clear(&bytes);
		if (i % 2)
			buf_done(&bytes);
		buf_puts(&bytes, "ab");
		assert_int_equal(io_read(path, sizes[i], &bytes), 0);
		assert_int_equal(bytes.n, 2 + sizes[i]);
		assert_int_equal(memcmp(bytes.bytes + 2, want.bytes, sizes[i]), 0);
		assert_int_equal(bytes.bytes[bytes.n], 0);
		if (sizes[i])
			assert_int_equal(io_read(path, sizes[i] - 1, &bytes), -EFBIG);
		buf_done(&bytes);
		assert_int_equal(io_read(path, 1u << 30, &bytes), 0);
		assert_int_equal(bytes.n, sizes[i]);
	}
	unlink(path);
	buf_clear(&bytes);
	assert_int_equal(io_read("/proc/self/maps", 1u << 20, &bytes), 0);
	assert_non_null(strstr(bytes.bytes, "[stack]"));
}

static void durations(void **state)
{
	static const struct { double seconds; const char *text; } cases[] = {
		{ 0, "0 ns" }, { 7e-9, "7 ns" }, { 999e-9, "999 ns" }, { 999.9e-9, "1.00 \xc2\xb5s" },
		{ 12.34e-6, "12.3 \xc2\xb5s" }, { 999.9e-6, "1.00 ms" }, { 0.0094, "9.40 ms" }, { 0.94, "940 ms" },
		{ 0.99996, "1.00 s" }, { 9.996, "10.0 s" }, { 59.94, "59.9 s" }, { 59.96, "1 min 0 s" },
		{ 119.7, "2 min 0 s" }, { 125.2, "2 min 5 s" }, { 7200, "120 min 0 s" },
	};

	for (size_t i = 0; i < countof(cases); i++) {
		scoped(buf_done) struct buf b = { 0 };

		buf_duration(&b, cases[i].seconds);
		assert_string_equal(b.bytes, cases[i].text);
	}
}

static void int_map_many(void **state)
{
	struct int_map m = { 0 };
	uint32_t value;

	assert_false(int_map_get(&m, 0, &value));
	for (uint64_t key = 0; key < 5000; key += 3)
		assert_int_equal(int_map_put(&m, key << 30, (uint32_t)key), 0);
	assert_int_equal(int_map_put(&m, 0, 7), 0);
	assert_int_equal(m.n, 1667);
	for (uint64_t key = 0; key < 5000; key++) {
		assert_int_equal(int_map_get(&m, key << 30, &value), key % 3 == 0);
		if (key % 3 == 0)
			assert_int_equal(value, key ? key : 7);
	}
	int_map_done(&m);
	assert_null(int_map_find(&m, 0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(int_map_many),
		cmocka_unit_test(globs), cmocka_unit_test(printable_text), cmocka_unit_test(nearest), cmocka_unit_test(natural_order),
		cmocka_unit_test(numbers), cmocka_unit_test(fixed_numbers), cmocka_unit_test(durations),
		cmocka_unit_test(cpu_lists), cmocka_unit_test(maps),
		cmocka_unit_test(json_text), cmocka_unit_test(very_large_arrays), cmocka_unit_test(large_arrays),
		cmocka_unit_test(room_of_arrays), cmocka_unit_test(files),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
