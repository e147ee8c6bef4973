/*
 * Relocatable files, such as kernel modules: each of their sections starts at address 0, and their debug data refers to
 * symbols by relocations. Here the sections get addresses one after another, so that an address means one place of the file.
 */
#ifndef SYMBOL_ELF_RELOCATE_H
#define SYMBOL_ELF_RELOCATE_H

#include "symbol/elf.h"

/* The address of each section, heap; 0 for those that are not loaded. 0 or -ENOMEM. */
int elf_layout(const struct elf *e, uint64_t **addresses);
/* Applies the relocations of a section to its bytes, with those addresses. Relocations that are damaged or point outside
 * are left out. 0, -EOPNOTSUPP (an unknown machine) or -ENOMEM. */
int elf_relocate_section(const struct elf *e, const struct elf_section *s, uint8_t *bytes, size_t n);

#endif
