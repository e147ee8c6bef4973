/*
 * From an ELF file to a table: its functions, objects and labels, and names for its PLT.
 */
#ifndef SYMBOL_ELF_SYMBOLS_H
#define SYMBOL_ELF_SYMBOLS_H

#include "symbol/elf.h"
#include "symbol/symbol_table.h"

/* What was read of .dynsym, for who needs it again. */
struct elf_dynamic {
	const struct elf_section *section;	/* NULL: nothing was */
	struct buf symbols;
	size_t strings, n_strings;	/* its names among the table's strings */
};
void elf_dynamic_done(struct elf_dynamic *d);

/* .symtab and .dynsym, in the object's own addresses (of a relocatable file, a kernel module,
 * those of .text). Returns how many were added or a negative errno; a broken table adds what is
 * whole. Fills *dynamic unless it is NULL. */
int elf_add_symbols(const struct elf *e, struct table *t, struct elf_dynamic *dynamic);
/* One symbol per entry of the procedure linkage table. Needs the file itself: a separate debug
 * file has no relocations. *known is what elf_add_symbols() left of the same file in the same table. */
int elf_add_plt(const struct elf *e, struct table *t, struct elf_dynamic *known);

#endif
