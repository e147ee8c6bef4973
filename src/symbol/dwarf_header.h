/*
 * What stands before the program of a line table: how its codes are to be read, and the directories
 * and files it speaks of. Versions 2 to 4 list them as text, version 5 by forms.
 */
#ifndef SYMBOL_DWARF_HEADER_H
#define SYMBOL_DWARF_HEADER_H

#include "symbol/dwarf_cursor.h"

struct dwarf_sections {
	struct buf line, line_str, str;
};

struct line_file {
	struct str name;		/* in the sections */
	uint64_t dir;
	uint32_t id;			/* for the reader: + 1 */
};

struct line_unit {
	uint16_t version;
	uint8_t min_instruction, max_operations, line_range, opcode_base;
	int8_t line_base;
	uint8_t operands[256];
	struct { struct str *v; size_t n, cap; } dirs;
	struct { struct line_file *v; size_t n, cap; } files;
	struct dwarf_cursor program;
};

/* -ENODATA without .debug_line. */
int dwarf_sections_read(struct dwarf_sections *s, const struct elf *e);
void dwarf_sections_done(struct dwarf_sections *s);
struct dwarf_cursor dwarf_section_cursor(const struct buf *section, bool swap);

/* The unit at the cursor, which moves behind it whatever comes. 0, -EBADMSG, -EOPNOTSUPP for another
 * version, -ENOMEM. */
int line_unit_read(struct line_unit *u, struct dwarf_cursor *c, const struct dwarf_sections *s);
void line_unit_done(struct line_unit *u);
/* The path of a file. A relative one is completed with the directory the unit was compiled in, which
 * only version 5 tells here. */
void line_unit_path(const struct line_unit *u, const struct line_file *f, struct buf *out);

#endif
