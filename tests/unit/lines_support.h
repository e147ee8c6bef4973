/*
 * An ELF file around line tables, for the tests of their reader: .debug_line, and one section of
 * strings under both of their names.
 */
#ifndef TEST_LINES_SUPPORT_H
#define TEST_LINES_SUPPORT_H

#include "base/buf.h"

static inline void lines_uint(struct buf *b, bool big, uint64_t v, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		buf_putc(b, (char)(v >> 8 * (big ? n - 1 - i : i)));
}

struct lines_piece {
	uint32_t name, type, flags;
	uint64_t offset, size;
};

static inline void lines_section(struct buf *b, bool big, struct lines_piece p)
{
	lines_uint(b, big, p.name, 4);
	lines_uint(b, big, p.type, 4);
	lines_uint(b, big, p.flags, 8);
	lines_uint(b, big, 0, 8);
	lines_uint(b, big, p.offset, 8);
	lines_uint(b, big, p.size, 8);
	lines_uint(b, big, 0, 4);
	lines_uint(b, big, 0, 4);
	lines_uint(b, big, 1, 8);
	lines_uint(b, big, 0, 8);
}

/* An ELF file around the pieces: header, section headers, names, the bytes. */
static inline void lines_elf(struct buf *b, bool big, uint32_t flags, const uint8_t *line, size_t n_line,
		     const uint8_t *text, size_t n_text)
{
	static const char names[] = "\0.debug_line\0.debug_line_str\0.debug_str\0.shstrtab";
	const uint64_t heads = 64, at = heads + 5 * 64;
	const uint8_t ident[16] = { 0x7f, 'E', 'L', 'F', 2, (uint8_t)(big ? 2 : 1), 1 };

	buf_put(b, ident, sizeof(ident));
	lines_uint(b, big, 3, 2);
	lines_uint(b, big, 62, 2);
	lines_uint(b, big, 1, 4);
	lines_uint(b, big, 0, 8);
	lines_uint(b, big, 0, 8);
	lines_uint(b, big, heads, 8);
	lines_uint(b, big, 0, 4);
	lines_uint(b, big, 64, 2);
	lines_uint(b, big, 0, 2);
	lines_uint(b, big, 0, 2);
	lines_uint(b, big, 64, 2);
	lines_uint(b, big, 5, 2);
	lines_uint(b, big, 4, 2);
	lines_section(b, big, (struct lines_piece){ 0 });
	lines_section(b, big, (struct lines_piece){ 1, 1, flags, at + sizeof(names), n_line });
	lines_section(b, big, (struct lines_piece){ 13, 1, 0, at + sizeof(names) + n_line, n_text });
	lines_section(b, big, (struct lines_piece){ 29, 1, 0, at + sizeof(names) + n_line, n_text });
	lines_section(b, big, (struct lines_piece){ 40, 3, 0, at, sizeof(names) });
	buf_put(b, names, sizeof(names));
	buf_put(b, line, n_line);
	buf_put(b, text, n_text);
}

#endif
