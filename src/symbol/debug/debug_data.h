/*
 * The entries of .debug_info (DWARF 2 to 5): their place in the code, their names and references, as far as inlined functions
 * need them. Sections are read when they are first needed. Uncompressed ones are mapped, if the program catches the
 * truncation of mapped files (base/file_map.h).
 *
 *	debug_data	one file: sections, units
 *	debug_unit	one unit: its header, and the bases that its entries refer to
 *	debug_entry	one entry: tag, attributes; its children follow it in .debug_info
 *
 * The data may be hostile: every offset is checked, and the caller limits the work by the number of bytes it walks.
 */
#ifndef SYMBOL_DEBUG_DEBUG_DATA_H
#define SYMBOL_DEBUG_DEBUG_DATA_H

#include "symbol/debug/abbreviations.h"
#include "symbol/dwarf_cursor.h"

#include "base/file_map.h"

enum debug_section_kind {
	DEBUG_INFO, DEBUG_ABBREV, DEBUG_STR, DEBUG_STR_OFFSETS, DEBUG_LINE, DEBUG_LINE_STR, DEBUG_RANGES, DEBUG_RNGLISTS,
	DEBUG_ADDR,
	DEBUG_SECTIONS
};

struct debug_section {
	const uint8_t *at;
	size_t n;
	struct buf owned;		/* not used if the section is mapped */
	bool read;
};

struct debug_data {
	struct elf file;
	struct file_map map;		/* of the file; not used: its sections are read */
	struct debug_section sections[DEBUG_SECTIONS];
	struct debug_data *alt;		/* data shared with other files (dwz); NULL: not opened, or missing */
	bool alt_tried, lacks_alt, is_alt;
	bool out_of_memory;		/* something was not read for that reason; see debug_data_failed() */
	struct { struct debug_unit *v; size_t n, cap; } units;	/* by offset */
	struct abbreviation_tables abbreviations;
};

struct debug_value {
	uint16_t form;			/* 0: the entry does not have this attribute */
	uint64_t value;			/* a number, an address, an offset or an index, depending on the form */
};

enum { UNIT_COMPILE = 1, UNIT_TYPE, UNIT_PARTIAL, UNIT_SKELETON, UNIT_SPLIT_COMPILE, UNIT_SPLIT_TYPE };

struct debug_unit {
	struct debug_data *data;
	uint64_t offset, first, end;	/* in .debug_info; `first`: its root entry */
	uint64_t id;			/* of a skeleton and its split unit; 0: none */
	uint64_t str_offsets_base, addr_base, ranges_base;
	uint64_t low_pc;		/* base of relative addresses */
	struct debug_value line_table;	/* offset in .debug_line */
	struct debug_value dir;		/* of the compilation */
	uint16_t version, tag;
	uint8_t type, address_bytes;
	bool wide;			/* offsets have 8 bytes */
	struct abbreviation_table *abbreviations;
};

struct debug_entry {
	struct debug_unit *unit;
	uint64_t offset;		/* in .debug_info */
	uint16_t tag;			/* 0: the end of a list of children */
	bool has_children;
	const struct abbreviation *abbreviation;
	struct dwarf_cursor at;		/* its attributes */
	struct debug_value v[ENTRY_SLOTS];	/* set by debug_entry_attributes() */
};

/* Takes the file, also on failure. If `eager`, all sections are read now and the file is closed. Returns 0, -ENODATA without
 * .debug_info, -ENOMEM. *d must stay where it is. */
int debug_data_open(struct debug_data *d, struct elf *file, bool eager);
void debug_data_close(struct debug_data *d);
/* The section, read on first use; empty if it is missing, damaged or too large for the memory. */
const struct debug_section *debug_data_section(struct debug_data *d, enum debug_section_kind kind);
/* Whether anything that was asked for could not be read without memory: answers so far may be incomplete. */
bool debug_data_failed(const struct debug_data *d);
size_t debug_data_bytes(const struct debug_data *d);	/* memory in use, about */
/* Reads the headers of all units and the attributes of their root entries. Damage ends the list. 0 or -ENOMEM. */
int debug_data_list_units(struct debug_data *d);

/* Reads the code of the entry at an offset. The attributes are not read. 0 or -EBADMSG, -ENOMEM. */
int debug_entry_start(struct debug_unit *u, uint64_t offset, struct debug_entry *e);
/* Reads the attributes; *next is the offset after them, where the first child or the next entry is. 0 or -EBADMSG. */
int debug_entry_attributes(struct debug_entry *e, uint64_t *next);
/* Skips the attributes. *sibling is set to the offset of the next sibling, or 0 if the entry does not tell. */
int debug_entry_skip(const struct debug_entry *e, uint64_t *next, uint64_t *sibling);
/* The entry that an attribute refers to, with its attributes. Returns 1, 0 if it is not found, -ENOMEM. */
int debug_entry_follow(const struct debug_unit *u, struct debug_value v, struct debug_entry *out);

/* A string; NULL if there is none, it is damaged or its section is missing. Valid until the data are closed. */
const char *debug_text(const struct debug_unit *u, struct debug_value v);
/* A string of the entry, or else of the entries that it is derived from. */
const char *debug_entry_text(const struct debug_entry *e, enum entry_slot slot);
bool debug_number(struct debug_value v, uint64_t *out);	/* a constant or an offset; false: it is something else */
bool debug_address(const struct debug_unit *u, struct debug_value v, uint64_t *out);

/* The addresses of an entry: begin, then next until it returns false. */
struct debug_ranges {
	const struct debug_unit *unit;
	struct dwarf_cursor at;
	uint64_t base;
	uint64_t start, end;		/* of a single range */
	bool single, lists;		/* `lists`: .debug_rnglists, not .debug_ranges */
};
void debug_ranges_begin(struct debug_ranges *r, const struct debug_entry *e);
bool debug_ranges_next(struct debug_ranges *r, uint64_t *start, uint64_t *end);

#endif
