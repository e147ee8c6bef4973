/*
 * Which line of which file the code at an address was compiled from: the line tables of an object
 * (.debug_line, versions 2 to 5), read once and kept as one array of rows.
 *
 *	sequences, by address    |--- a ---|      |-- b --|
 *	rows of each             |..|....|.|      |.|.|...|
 *
 * A row reaches up to the next one; a sequence is one piece of code without gaps.
 */
#ifndef SYMBOL_DWARF_LINE_H
#define SYMBOL_DWARF_LINE_H

#include "symbol/elf.h"

#include "base/arena.h"
#include "base/map.h"

#define LINE_ROWS_MAX (1u << 26)

struct line_row {
	uint64_t address;
	uint32_t file;			/* index into files */
	uint32_t line;			/* 0: of no line */
};

struct line_sequence {
	uint64_t start, end;		/* end is not part of it */
	uint32_t first, n;		/* rows */
};

struct dwarf_lines {
	struct { struct line_row *v; size_t n, cap; } rows;
	struct { struct line_sequence *v; size_t n, cap; } sequences;
	struct { const char **v; size_t n, cap; } files;
	struct map file_ids;		/* path -> index */
	struct arena text;
};

/* Reads all units. What is broken ends its unit; what was read before stays. 0, -ENODATA where
 * there are no line tables, -ENOMEM, or why they cannot be read. */
int dwarf_lines_read(struct dwarf_lines *l, const struct elf *e);
void dwarf_lines_done(struct dwarf_lines *l);
/* True where a line is known; *file is the lines' own. */
bool dwarf_lines_find(const struct dwarf_lines *l, uint64_t address, const char **file,
		      uint32_t *line);

#endif
