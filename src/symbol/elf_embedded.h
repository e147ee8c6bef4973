/*
 * ELF files inside something packed: a module.ko.xz, and the small symbol table (mini debug info)
 * that Fedora and others keep in the section .gnu_debugdata of stripped programs.
 */
#ifndef SYMBOL_ELF_EMBEDDED_H
#define SYMBOL_ELF_EMBEDDED_H

#include "symbol/elf.h"

#define ELF_UNPACKED_MAX (256u << 20)

/* As elf_open(), of a file that is packed; -ENOEXEC when it is not. */
int elf_open_packed(struct elf *out, const char *path);
/* -ENOENT when it has no such section. */
int elf_open_mini(struct elf *out, const struct elf *own);

#endif
