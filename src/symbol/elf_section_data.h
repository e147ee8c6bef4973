/*
 * The contents of ELF sections, decompressed where the linker has compressed them (zlib, zstd, or the
 * older .zdebug_* form). The size in the compression header is not trusted: memory grows with the
 * bytes actually produced.
 */
#ifndef SYMBOL_ELF_SECTION_DATA_H
#define SYMBOL_ELF_SECTION_DATA_H

#include "symbol/elf.h"

/* Finds ".debug_line" or its older compressed form ".zdebug_line"; NULL when both are missing or empty. */
const struct elf_section *elf_find_debug(const struct elf *e, const char *name);
/* The number of bytes that elf_read_section_data() appends, or fails before; 0 if its header is damaged. */
uint64_t elf_section_data_size(const struct elf *e, const struct elf_section *s);
/* Appends the section's bytes. Returns 0, -ENODATA, -EBADMSG, -EFBIG beyond ELF_PIECE_MAX, -EOPNOTSUPP for
 * an unknown compression, -ENOMEM ... */
int elf_read_section_data(const struct elf *e, const struct elf_section *s, struct buf *out);

#endif
