/*
 * ELF files in compressed containers: kernel modules such as module.ko.xz, and mini debug info, the
 * small symbol table that Fedora and others put into the section .gnu_debugdata of stripped programs.
 */
#ifndef SYMBOL_ELF_EMBEDDED_H
#define SYMBOL_ELF_EMBEDDED_H

#include "symbol/elf.h"

#define ELF_DECOMPRESSED_MAX (256u << 20)

/* As elf_open(), for a compressed file; -ENOEXEC when it is not compressed. */
int elf_open_compressed(struct elf *out, const char *path);
/* Opens the mini debug info of `own`; -ENOENT when it has none. */
int elf_open_minidebug(struct elf *out, const struct elf *own);

#endif
