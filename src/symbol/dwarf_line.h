/*
 * Source lines by address: the line tables of an object (.debug_line, versions 2 to 5), read once
 * into one array of rows.
 *
 *	sequences, by address    |--- a ---|      |-- b --|
 *	rows of each             |..|....|.|      |.|.|...|
 *
 * A row covers the addresses up to the next row; a sequence is one contiguous piece of code.
 */
#ifndef SYMBOL_DWARF_LINE_H
#define SYMBOL_DWARF_LINE_H

#include "symbol/elf.h"

#include "symbol/dwarf_header.h"

#include "base/arena.h"
#include "base/map.h"

#define LINE_ROWS_MAX (1u << 26)

struct line_row {
	uint64_t address;
	uint32_t file;			/* index into files */
	uint32_t line;			/* 0: no line */
};

struct line_sequence {
	uint64_t start, end;		/* end is exclusive */
	uint32_t first, n;		/* rows */
};

struct dwarf_lines {
	struct { struct line_row *v; size_t n, cap; } rows;
	struct { struct line_sequence *v; size_t n, cap; } sequences;
	struct { const char **v; size_t n, cap; } files;
	struct map file_ids;		/* path -> index */
	struct arena text;
};

struct code_section {
	uint64_t start, end;
};
struct code_sections {			/* empty: not known */
	struct code_section *v;
	size_t n, cap;
};

int code_sections_list(struct code_sections *out, const struct elf *e);	/* 0 or -ENOMEM */

struct line_found {
	uint64_t start, end;		/* the addresses that it covers */
	const char *file;		/* owned by the tables */
	uint32_t line;			/* 0: no line */
};

/* Reads all units. Damage ends the unit it is in; rows read before it are kept. Returns 0, -ENODATA
 * when there are no line tables, -ENOMEM, or another negative errno. */
int dwarf_lines_read(struct dwarf_lines *l, const struct elf *e);
/* Reads the unit at the cursor only. 0 or -ENOMEM. */
int dwarf_lines_read_unit(struct dwarf_lines *l, struct dwarf_cursor at, const struct line_texts *texts,
			  const struct code_sections *code);
/* The number of a file in l->files, which is added if it is new. 0 or -ENOMEM. */
int dwarf_lines_file(struct dwarf_lines *l, struct str path, uint32_t *out);
void dwarf_lines_done(struct dwarf_lines *l);
/* Returns true when a line is known; *file is owned by `l`. */
bool dwarf_lines_find(const struct dwarf_lines *l, uint64_t address, const char **file,
		      uint32_t *line);

/* The same with the row; returns true also for a row without line. */
bool dwarf_lines_find_row(const struct dwarf_lines *l, uint64_t address, struct line_found *out);

#endif
