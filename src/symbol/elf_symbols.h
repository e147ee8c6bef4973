/*
 * Fills a symbol table from an ELF file: functions, data objects, labels, and names for PLT entries.
 */
#ifndef SYMBOL_ELF_SYMBOLS_H
#define SYMBOL_ELF_SYMBOLS_H

#include "symbol/elf.h"
#include "symbol/symbol_table.h"

/* The contents of .dynsym, kept for elf_add_plt(). */
struct elf_dynamic {
	const struct elf_section *section;	/* NULL: not read */
	struct buf symbols;
	size_t strings, n_strings;	/* offset and size of its names in symbol_table.strings */
};
void elf_dynamic_done(struct elf_dynamic *d);

/* Adds the symbols of .symtab and .dynsym, with addresses as in the file (relative to .text in a relocatable
 * file, that is, a kernel module). Returns how many were added or a negative errno; of a damaged table the
 * intact entries are added. Fills *dynamic unless it is NULL. */
int elf_add_symbols(const struct elf *e, struct symbol_table *t, struct elf_dynamic *dynamic);
/* Adds one symbol per PLT entry. Needs the object's own file, because a separate debug file has no
 * relocations. *known is what elf_add_symbols() stored for the same file and table. */
int elf_add_plt(const struct elf *e, struct symbol_table *t, struct elf_dynamic *known);

#endif
