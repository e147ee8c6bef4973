/*
 * The abbreviations of .debug_abbrev: for each code its tag and the forms of its attributes. Units with the same table share
 * it. Of most units only the root entry is ever read: the first abbreviations of a table are searched and parsed one by one,
 * the others up to the highest code that is asked for.
 */
#ifndef SYMBOL_DEBUG_ABBREVIATIONS_H
#define SYMBOL_DEBUG_ABBREVIATIONS_H

#include "symbol/dwarf_cursor.h"
#include "symbol/dwarf_forms.h"

#include "base/int_map.h"

/* Tags of entries that matter here. */
enum {
	TAG_CATCH_BLOCK = 0x25, TAG_CLASS_TYPE = 0x02, TAG_LEXICAL_BLOCK = 0x0b, TAG_COMPILE_UNIT = 0x11,
	TAG_STRUCTURE_TYPE = 0x13, TAG_UNION_TYPE = 0x17, TAG_COMMON_BLOCK = 0x1a, TAG_INLINED_SUBROUTINE = 0x1d,
	TAG_MODULE = 0x1e, TAG_WITH_STMT = 0x22, TAG_SUBPROGRAM = 0x2e, TAG_TRY_BLOCK = 0x32, TAG_NAMESPACE = 0x39,
	TAG_SKELETON_UNIT = 0x4a,
};

/* The attributes that are stored; others are skipped. */
enum entry_slot {
	SLOT_NONE, SLOT_SIBLING, SLOT_NAME, SLOT_LINKAGE_NAME, SLOT_LOW_PC, SLOT_HIGH_PC, SLOT_RANGES, SLOT_ORIGIN,
	SLOT_SPECIFICATION, SLOT_CALL_FILE, SLOT_CALL_LINE, SLOT_LINE_TABLE, SLOT_DIR, SLOT_ADDR_BASE, SLOT_STR_OFFSETS_BASE,
	SLOT_RANGES_BASE, SLOT_GNU_RANGES_BASE, SLOT_SPLIT_NAME, SLOT_GNU_SPLIT_ID,
	ENTRY_SLOTS
};

#define FORM_SIZE_VARIES UINT8_MAX

/* What the size of a form depends on. */
struct form_sizes {
	uint16_t version;
	uint8_t address_bytes;
	bool wide;
};
uint8_t form_size(uint64_t form, struct form_sizes sizes);	/* or FORM_SIZE_VARIES */

struct abbreviation_attribute {
	uint16_t form;
	uint8_t slot;
	uint8_t size;			/* or FORM_SIZE_VARIES */
	int64_t constant;		/* of FORM_IMPLICIT_CONST */
};

struct abbreviation {
	uint64_t code;
	uint16_t tag;
	bool has_children, has_sibling;
	uint32_t size;			/* of all attributes; UINT32_MAX: varies */
	uint32_t first, n;		/* attributes */
};

struct abbreviation_table {
	struct dwarf_cursor start, at;	/* `at`: what was not parsed yet */
	struct form_sizes sizes;
	uint8_t n_searches;		/* made so far; afterwards the table is parsed in its order */
	bool ended;
	struct { struct abbreviation *v; size_t n, cap; } v;
	struct { struct abbreviation_attribute *v; size_t n, cap; } attributes;
	struct int_map others;		/* code -> index, for those whose index is not code - 1 */
};

struct abbreviation_tables {
	struct { struct abbreviation_table **v; size_t n, cap; } v;
	struct int_map at;		/* offset and sizes -> index */
	size_t bytes;
	uint64_t bytes_left;		/* of .debug_abbrev that may still be parsed, overlapping tables included */
	bool out_of_memory;		/* a table is incomplete for that reason */
};

/* The table at an offset of .debug_abbrev, or NULL without memory. */
struct abbreviation_table *abbreviation_table_get(struct abbreviation_tables *t, struct dwarf_cursor section, uint64_t offset,
						  struct form_sizes sizes);
void abbreviation_tables_done(struct abbreviation_tables *t);
/* Returns the abbreviation of a code, NULL if there is none. Valid until the next call. */
const struct abbreviation *abbreviation_find(struct abbreviation_tables *all, struct abbreviation_table *t, uint64_t code);

#endif
