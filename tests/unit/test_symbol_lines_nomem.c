/*
 * Every allocation fails once while line tables are read, plain and compressed: the call says
 * -ENOMEM, nothing leaks (which the sanitizers' run watches), and the next try succeeds.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "lines_support.h"
#include "symbol/dwarf_line.h"

#include "nomem.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

/* A file of the fuzzer's corpus: kind, length of the tables, the tables, strings. */
static void load(struct buf *file, const char *name)
{
	uint8_t bytes[4096];
	char path[512];
	ssize_t n;
	size_t n_line;
	int fd;

	snprintf(path, sizeof(path), "%s/../fuzz/corpus/dwarf_line/%s", TEST_DATA, name);
	fd = open(path, O_RDONLY);
	assert_true(fd >= 0);
	n = read(fd, bytes, sizeof(bytes));
	close(fd);
	assert_true(n > 3);
	n_line = (size_t)(bytes[1] | bytes[2] << 8);
	lines_elf(file, false, bytes[0] & 2 ? 0x800 : 0, bytes + 3, n_line, bytes + 3 + n_line,
		  (size_t)n - 3 - n_line);
}

static int read_once(const struct buf *file)
{
	struct dwarf_lines l = { 0 };
	struct elf e;
	int err = elf_open_bytes(&e, file->bytes, file->n);

	if (err < 0)
		return err;
	err = dwarf_lines_read(&l, &e);
	elf_close(&e);
	dwarf_lines_done(&l);
	return err;
}

static void nomem_lines(void **state)
{
	static const char *const names[] = { "version2", "version4", "version5", "zlib" };

	for (size_t i = 0; i < countof(names); i++) {
		struct buf file = { 0 };
		unsigned long nth = 0;
		int err;

		load(&file, names[i]);
		assert_int_equal(read_once(&file), 0);
		do {
			count = 0;
			fail_at = ++nth;
			err = read_once(&file);
			fail_at = 0;
			assert_true(err == 0 || err == -ENOMEM);
		} while (count >= nth);
		assert_int_equal(err, 0);
		assert_true(nth > 5);
		buf_done(&file);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(nomem_lines) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
