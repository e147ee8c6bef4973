/*
 * Any bytes as the line tables of an object: the first byte chooses the byte order, the rest is
 * .debug_line, or, behind a length, .debug_line and the strings. Whatever comes, reading must end,
 * sequences must be sorted, and a line found must lie in one of them.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "symbol/dwarf_line.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static void put(struct buf *b, bool big, uint64_t v, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		buf_putc(b, (char)(v >> 8 * (big ? n - 1 - i : i)));
}

struct piece {
	uint32_t name, type, flags;
	uint64_t offset, size;
};

static void put_section(struct buf *b, bool big, struct piece p)
{
	put(b, big, p.name, 4);
	put(b, big, p.type, 4);
	put(b, big, p.flags, 8);
	put(b, big, 0, 8);
	put(b, big, p.offset, 8);
	put(b, big, p.size, 8);
	put(b, big, 0, 4);
	put(b, big, 0, 4);
	put(b, big, 1, 8);
	put(b, big, 0, 8);
}

/* An ELF file around the pieces: header, section headers, names, the bytes. */
static void make_elf(struct buf *b, bool big, uint32_t flags, const uint8_t *line, size_t n_line,
		     const uint8_t *text, size_t n_text)
{
	static const char names[] = "\0.debug_line\0.debug_line_str\0.debug_str\0.shstrtab";
	const uint64_t heads = 64, at = heads + 5 * 64;
	const uint8_t ident[16] = { 0x7f, 'E', 'L', 'F', 2, (uint8_t)(big ? 2 : 1), 1 };

	buf_put(b, ident, sizeof(ident));
	put(b, big, 3, 2);
	put(b, big, 62, 2);
	put(b, big, 1, 4);
	put(b, big, 0, 8);
	put(b, big, 0, 8);
	put(b, big, heads, 8);
	put(b, big, 0, 4);
	put(b, big, 64, 2);
	put(b, big, 0, 2);
	put(b, big, 0, 2);
	put(b, big, 64, 2);
	put(b, big, 5, 2);
	put(b, big, 4, 2);
	put_section(b, big, (struct piece){ 0 });
	put_section(b, big, (struct piece){ 1, 1, flags, at + sizeof(names), n_line });
	put_section(b, big, (struct piece){ 13, 1, 0, at + sizeof(names) + n_line, n_text });
	put_section(b, big, (struct piece){ 29, 1, 0, at + sizeof(names) + n_line, n_text });
	put_section(b, big, (struct piece){ 40, 3, 0, at, sizeof(names) });
	buf_put(b, names, sizeof(names));
	buf_put(b, line, n_line);
	buf_put(b, text, n_text);
}

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
	make_elf(&file, bytes[0] & 1, bytes[0] & 2 ? 0x800 : 0, bytes + 3, n_line, bytes + 3 + n_line,
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
