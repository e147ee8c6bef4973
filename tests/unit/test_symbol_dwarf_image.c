/*
 * The copy of a file's debug sections that libdw reads.
 */
#include "symbol/dwarf_image.h"
#include "symbol/elf_section_data.h"
#include "symbol/libdw.h"

#include "base/defs.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

static void check_section(const struct elf *file, const struct elf *image, const char *name)
{
	const struct elf_section *from = elf_find_debug(file, name), *to = elf_find_section(image, name);
	scoped(buf_done) struct buf want = { 0 }, got = { 0 };

	assert_int_equal(from != NULL, to != NULL);
	if (!from)
		return;
	assert_int_equal(elf_read_section_data(file, from, &want), 0);
	assert_int_equal(elf_read_section_data(image, to, &got), 0);
	assert_int_equal(want.n, got.n);
	assert_int_equal(elf_section_data_size(file, from), want.n);
	assert_memory_equal(want.bytes, got.bytes, want.n);
	assert_int_equal(from->addr, to->addr);
}

static void check_image(const char *path)
{
	static const char *const names[] = { ".debug_info", ".debug_abbrev", ".debug_str", ".debug_line", ".debug_line_str",
					     ".debug_rnglists", ".eh_frame" };
	scoped(elf_close) struct elf file = { .fd = -1 }, image = { .fd = -1 };
	scoped(buf_done) struct buf bytes = { 0 };
	int err;

	assert_int_equal(elf_open(&file, path), 0);
	err = dwarf_image_make(&file, DWARF_IMAGE_ALL, &bytes);
	if (err == -ENODATA)
		skip();			/* built without -g */
	assert_int_equal(err, 0);
	assert_int_equal(elf_open_bytes(&image, bytes.bytes, bytes.n), 0);
	assert_int_equal(image.machine, file.machine);
	assert_int_equal(image.wide, file.wide);
	for (size_t i = 0; i < countof(names); i++)
		check_section(&file, &image, names[i]);
	assert_null(elf_find_section(&image, ".text"));
}

static void test_image(void **state)
{
	check_image("/proc/self/exe");
}

static void test_compressed(void **state)
{
	static const char *const kinds[] = { "zlib", "zlib-gnu", "zstd" };
	char path[] = "/tmp/tacho-image-XXXXXX", command[200];
	int fd = mkstemp(path);
	size_t done = 0;

	assert_true(fd >= 0);
	close(fd);
	for (size_t i = 0; i < countof(kinds); i++) {
		snprintf(command, sizeof(command), "objcopy --compress-debug-sections=%s /proc/%d/exe %s 2>&1", kinds[i],
			 (int)getpid(), path);
		if (system(command) != 0)
			continue;	/* binutils without zstd */
		check_image(path);
		done++;
	}
	unlink(path);
	if (!done)
		skip();
}

static void test_without_debug_data(void **state)
{
	uint8_t empty[64] = "\177ELF\2\1\1";
	scoped(elf_close) struct elf file = { .fd = -1 };
	scoped(buf_done) struct buf bytes = { 0 };

	assert_int_equal(elf_open_bytes(&file, empty, sizeof(empty)), 0);
	assert_int_equal(dwarf_image_make(&file, DWARF_IMAGE_ALL, &bytes), -ENODATA);
}

static void test_library(void **state)
{
	assert_ptr_equal(libdw_get(), libdw_get());	/* loaded once, or missing */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_image),
		cmocka_unit_test(test_compressed),
		cmocka_unit_test(test_without_debug_data),
		cmocka_unit_test(test_library),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
