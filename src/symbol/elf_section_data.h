/*
 * Sections of an ELF file as their program sees them: those that the linker has compressed (zlib,
 * zstd, or the older .zdebug_*) are unpacked. What a header promises is not believed: memory grows
 * with what really comes out.
 */
#ifndef SYMBOL_ELF_SECTION_DATA_H
#define SYMBOL_ELF_SECTION_DATA_H

#include "symbol/elf.h"

/* ".debug_line" or its older compressed form ".zdebug_line"; NULL: neither, or without bytes. */
const struct elf_section *elf_find_debug(const struct elf *e, const char *name);
/* Appends its bytes; 0, -ENODATA, -EBADMSG, -EFBIG beyond ELF_PIECE_MAX, -EOPNOTSUPP for an unknown
 * way to compress, -ENOMEM ... */
int elf_read_inflated(const struct elf *e, const struct elf_section *s, struct buf *out);

#endif
