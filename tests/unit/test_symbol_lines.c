/*
 * Line tables made by hand: what the opcodes mean, and that nothing in a table is trusted.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "lines_support.h"
#include "symbol/dwarf_line.h"

#include <errno.h>

#define HEAD2 0x01, 0x00, 0xfb, 14, 10, 0, 1, 1, 1, 1, 0, 0, 0, 1	/* codes: base -5, range 14 */

/* Version 2: directory "d", files "one.c" (in 0) and "two.c" (in 1). */
#define FILES2 'd', 0, 0, 'o', 'n', 'e', '.', 'c', 0, 0, 0, 0, 't', 'w', 'o', '.', 'c', 0, 1, 0, 0, 0
/* Set the address to 0x1000. */
#define AT1000 0, 9, 2, 0x00, 0x10, 0, 0, 0, 0, 0, 0
#define END 0, 1, 1

/* Puts the lengths before header and program. */
static size_t unit(uint8_t *out, uint16_t version, const uint8_t *head, size_t n_head,
		   const uint8_t *program, size_t n_program)
{
	uint32_t total = (uint32_t)(2 + 4 + n_head + n_program), header = (uint32_t)n_head;

	memcpy(out, &total, 4);
	memcpy(out + 4, &version, 2);
	memcpy(out + 6, &header, 4);
	memcpy(out + 10, head, n_head);
	memcpy(out + 10 + n_head, program, n_program);
	return 10 + n_head + n_program;
}

static int read_tables(struct dwarf_lines *l, const uint8_t *bytes, size_t n)
{
	struct buf file = { 0 };
	struct elf e;
	int err;

	*l = (struct dwarf_lines){ 0 };
	lines_elf(&file, false, 0, bytes, n, NULL, 0);
	assert_int_equal(elf_open_bytes(&e, file.bytes, file.n), 0);
	err = dwarf_lines_read(l, &e);
	elf_close(&e);
	buf_done(&file);
	return err;
}

static void is_line(const struct dwarf_lines *l, uint64_t address, const char *file, uint32_t line)
{
	const char *got = NULL;
	uint32_t number = 0;

	assert_int_equal(dwarf_lines_find(l, address, &got, &number), file != NULL);
	if (file) {
		assert_string_equal(got, file);
		assert_int_equal(number, line);
	}
}

static const uint8_t head2[] = { HEAD2, FILES2 };

static void lines_program(void **state)
{
	static const uint8_t program[] = {
		AT1000,
		3, 9, 1,		/* line += 9: 10; a row at 0x1000 */
		10 + 5 + 1 + 14 * 4,	/* special: line += 1, address += 4 */
		4, 2, 3, 0x7b, 2, 4, 1,	/* file 2, line -= 5, address += 4: two.c:6 at 0x1008 */
		9, 0x10, 0, 1,		/* address += 16: same line, no new row */
		8, 3, 1, 1,		/* address += 17 by the constant, line += 1: two.c:7 at 0x1029 */
		2, 7, END,		/* ... up to 0x1030 */
	};
	uint8_t bytes[256];
	struct dwarf_lines l;
	size_t n = unit(bytes, 2, head2, sizeof(head2), program, sizeof(program));

	assert_int_equal(read_tables(&l, bytes, n), 0);
	assert_int_equal(l.sequences.n, 1);
	is_line(&l, 0xfff, NULL, 0);
	is_line(&l, 0x1000, "one.c", 10);
	is_line(&l, 0x1003, "one.c", 10);
	is_line(&l, 0x1004, "one.c", 11);
	is_line(&l, 0x1008, "d/two.c", 6);
	is_line(&l, 0x1028, "d/two.c", 6);
	is_line(&l, 0x1029, "d/two.c", 7);
	is_line(&l, 0x102f, "d/two.c", 7);
	is_line(&l, 0x1030, NULL, 0);
	dwarf_lines_done(&l);
}

/* Two units, the later one first in memory; line 0 means unknown; one unit is of an unknown version. */
static void lines_units(void **state)
{
	static const uint8_t first[] = { AT1000, 1, 2, 16, END };
	static const uint8_t second[] = { 0, 9, 2, 0, 0x08, 0, 0, 0, 0, 0, 0, 1, 2, 4, 3, 0x7f, 1, 2, 4, END };
	uint8_t bytes[512];
	struct dwarf_lines l;
	size_t n = unit(bytes, 2, head2, sizeof(head2), first, sizeof(first));

	n += unit(bytes + n, 9, head2, sizeof(head2), first, sizeof(first));
	n += unit(bytes + n, 4, (const uint8_t[]){ 1, HEAD2, FILES2 }, sizeof(head2) + 1, second, sizeof(second));
	assert_int_equal(read_tables(&l, bytes, n), 0);
	assert_int_equal(l.sequences.n, 2);
	is_line(&l, 0x1000, "one.c", 1);
	is_line(&l, 0x800, "one.c", 1);
	is_line(&l, 0x804, NULL, 0);
	dwarf_lines_done(&l);
}

/* Broken tables have no lines, and reading them ends. */
static void lines_broken(void **state)
{
	static const uint8_t endless[] = { AT1000, 1, 2, 16 }, back[] = { AT1000, 1, END };
	static const uint8_t one[] = { AT1000, 1, 2, 16, END };
	uint8_t bytes[256];
	struct dwarf_lines l;
	size_t n = unit(bytes, 2, head2, sizeof(head2), endless, sizeof(endless));

	assert_int_equal(read_tables(&l, bytes, n), -ENODATA);	/* the sequence never ends */
	dwarf_lines_done(&l);
	n = unit(bytes, 2, head2, sizeof(head2), back, sizeof(back));
	assert_int_equal(read_tables(&l, bytes, n), -ENODATA);	/* it has no length */
	dwarf_lines_done(&l);
	n = unit(bytes, 2, head2, sizeof(head2), one, sizeof(one));
	for (size_t cut = 0; cut < n; cut++) {
		assert_int_equal(read_tables(&l, bytes, cut), -ENODATA);
		dwarf_lines_done(&l);
	}
	for (size_t i = 0; i < n * 8; i++) {
		bytes[i / 8] ^= (uint8_t)(1 << i % 8);
		read_tables(&l, bytes, n);
		dwarf_lines_done(&l);
		bytes[i / 8] ^= (uint8_t)(1 << i % 8);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_program), cmocka_unit_test(lines_units), cmocka_unit_test(lines_broken),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
