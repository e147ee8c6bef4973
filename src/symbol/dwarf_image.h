/*
 * An ELF file in memory that has only the debug sections and the call frame information of another file, decompressed.
 * A library that reads it cannot be hit by the truncation of the file, and needs not know any compression.
 */
#ifndef SYMBOL_DWARF_IMAGE_H
#define SYMBOL_DWARF_IMAGE_H

#include "symbol/elf.h"

#define DWARF_IMAGE_MAX (1ull << 30)

/* Which sections are needed: decompressing the others takes time and memory. */
enum dwarf_image_use {
	DWARF_IMAGE_ALL,
	DWARF_IMAGE_FUNCTIONS,		/* without locations of variables, macros, indexes and call frames */
};

/* Appends the image, aligned if *out was empty. Returns 0, -ENODATA without .debug_info, -EFBIG beyond
 * DWARF_IMAGE_MAX, -EBADMSG, -ENOMEM. */
int dwarf_image_make(const struct elf *e, enum dwarf_image_use use, struct buf *out);

/* The bytes of the sections that an image would have, read from their headers; the image is hardly larger. */
uint64_t dwarf_image_size(const struct elf *e, enum dwarf_image_use use);

#endif
