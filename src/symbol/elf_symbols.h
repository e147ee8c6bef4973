/*
 * From an ELF file to a table: its functions, objects and labels, and names for its PLT.
 */
#ifndef SYMBOL_ELF_SYMBOLS_H
#define SYMBOL_ELF_SYMBOLS_H

#include "symbol/elf.h"
#include "symbol/table.h"

/* .symtab and .dynsym, in the object's own addresses (of a relocatable file, a kernel module,
 * those of .text). Returns how many were added or a negative errno; a broken table adds what is
 * whole. */
int elf_add_symbols(const struct elf *e, struct table *t);
/* One symbol per entry of the procedure linkage table. Needs the file itself: a separate debug
 * file has no relocations. */
int elf_add_plt(const struct elf *e, struct table *t);

#endif
