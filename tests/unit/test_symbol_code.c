/*
 * The code of a function: this program's own, whose bytes are known; files of another build, files
 * that are not there, addresses that are not.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <tacho/symbol.h>

__attribute__((noinline)) static int known_function(int a)
{
	__asm__ volatile("");
	return a * 7 + 3;
}

/* Where a function of this program is in its file's own addresses. */
static uint64_t address_of(const void *at, char *path, size_t size)
{
	struct tacho_symbols *s = NULL;
	struct tacho_frame f;
	ssize_t n = readlink("/proc/self/exe", path, size - 1);

	assert_true(n > 0);
	path[n] = '\0';
	assert_int_equal(tacho_symbols_new(&s, TACHO_OPTS(tacho_symbols_opts, .live = true), NULL), 0);
	assert_int_equal(tacho_symbols_resolve(s, (uint32_t)getpid(), TACHO_SPACE_USER, (uintptr_t)at, &f), 1);
	tacho_symbols_free(s);
	return f.object_address;
}

static void own_bytes(void **state)
{
	char path[4096];
	uint64_t at = address_of((const void *)known_function, path, sizeof(path)), offset = 9;
	struct tacho_object_id id = { .path = path };
	struct tacho_code_view view = { .size = sizeof(view) };
	struct tacho_code *c = NULL;

	assert_int_equal(known_function(1), 10);
	assert_int_equal(tacho_code_new(&c, NULL, &id, at + 1, NULL), 0);
	tacho_code_get(c, &view);
	assert_int_equal(view.start, at);
	assert_true(view.n_bytes > 3 && view.n_bytes < 4096);
	assert_memory_equal(view.bytes, (const void *)known_function, view.n_bytes);
	assert_string_equal(view.path, path);
	assert_int_equal(view.wide, sizeof(void *) == 8);
	assert_string_equal(tacho_code_name(c, at + 2, &offset), "known_function");
	assert_int_equal(offset, 2);
	assert_null(tacho_code_name(c, 1, &offset));
	tacho_code_free(c);
}

static void refused(const struct tacho_object_id *id, uint64_t at, int err, const char *says)
{
	struct tacho_error e = { .column = -1 };
	struct tacho_code *c = NULL;

	assert_int_equal(tacho_code_new(&c, NULL, id, at, &e), err);
	assert_null(c);
	assert_non_null(strstr(e.message, says));
}

static void wrong_files(void **state)
{
	static const uint8_t other[20] = { 1, 2, 3 };
	char path[4096];
	uint64_t at = address_of((const void *)known_function, path, sizeof(path));
	struct tacho_object_id own = { .path = path }, stale = { path, other, 20 };
	struct tacho_object_id gone = { .path = "/nowhere/to/be/found" }, text = { .path = "/proc/self/status" };

	refused(&stale, at, -ESTALE, "of another build");
	refused(&gone, at, -ENOENT, "no code at that address");
	refused(&text, at, -ENOEXEC, "cannot read the code of");
	refused(&own, 1ull << 60, -ENOENT, "no code at that address");
	tacho_code_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(own_bytes),
		cmocka_unit_test(wrong_files),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
