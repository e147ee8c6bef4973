/*
 * Any bytes as the line tables of an object: the first byte chooses the byte order, the rest is
 * .debug_line, or, behind a length, .debug_line and the strings. Whatever comes, reading must end,
 * sequences must be sorted, and a line found must lie in one of them.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../unit/lines_support.h"
#include "symbol/dwarf_line.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static void look_around(const struct dwarf_lines *l)
{
	for (size_t i = 0; i < l->sequences.n; i += 1 + l->sequences.n / 64) {
		const struct line_sequence *s = &l->sequences.v[i];
		const char *file = NULL;
		uint32_t line = 0;

		if (s->start >= s->end || !s->n || (uint64_t)s->first + s->n > l->rows.n ||
		    (i && l->sequences.v[i - 1].start > s->start))
			abort();
		if (dwarf_lines_find(l, s->start, &file, &line) && (!file || !line))
			abort();
		dwarf_lines_find(l, s->end - 1, &file, &line);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	struct dwarf_lines l = { 0 };
	struct buf file = { 0 };
	struct elf e;
	size_t n_line;

	if (n < 3)
		return 0;
	n_line = (size_t)(bytes[1] | bytes[2] << 8);
	n_line = n_line ? min_of(n_line, n - 3) : n - 3;
	/* Bit 1: the section is compressed. */
	lines_elf(&file, bytes[0] & 1, bytes[0] & 2 ? 0x800 : 0, bytes + 3, n_line, bytes + 3 + n_line,
		  n - 3 - n_line);
	if (!buf_failed(&file) && elf_open_bytes(&e, file.bytes, file.n) == 0) {
		if (dwarf_lines_read(&l, &e) == 0)
			look_around(&l);
		elf_close(&e);
	}
	dwarf_lines_done(&l);
	buf_done(&file);
	return 0;
}
