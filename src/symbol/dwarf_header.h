/*
 * The header of a line number program in .debug_line: opcode parameters, directory and file tables.
 * DWARF versions 2 to 4 store the tables as strings, version 5 as lists of forms.
 */
#ifndef SYMBOL_DWARF_HEADER_H
#define SYMBOL_DWARF_HEADER_H

#include "symbol/dwarf_cursor.h"

struct dwarf_sections {
	struct buf line, line_str, str;
};

struct line_texts {			/* what headers of version 5 refer to */
	struct str str, line_str;	/* the sections; empty: missing */
};

struct line_file {
	struct str name;		/* borrowed from the sections */
	uint64_t dir;
	uint32_t id;			/* index into dwarf_lines.files plus one; 0: not added yet */
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

/* Reads the header of the unit at the cursor and always moves the cursor past the whole unit. Returns 0,
 * -EBADMSG, -EOPNOTSUPP for an unknown version, -ENOMEM. */
int line_unit_read(struct line_unit *u, struct dwarf_cursor *c, const struct line_texts *s);
void line_unit_done(struct line_unit *u);
/* Appends the path of a file. A relative path is prefixed with the compilation directory, which is
 * part of the line table since version 5 only. */
void line_unit_path(const struct line_unit *u, const struct line_file *f, struct buf *out);

#endif
