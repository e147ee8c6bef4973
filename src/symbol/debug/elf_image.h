/*
 * Builds an ELF file in memory that has only sections: section by section, then the headers.
 *
 *	begin -> start_section, append to `out`, end_section ... -> finish -> done
 */
#ifndef SYMBOL_DEBUG_ELF_IMAGE_H
#define SYMBOL_DEBUG_ELF_IMAGE_H

#include "symbol/elf.h"

struct elf_image {
	const struct elf *like;		/* the image has its class, byte order, type and machine */
	struct buf *out;
	struct buf names, headers;
	size_t n_sections;
	size_t start, section_start;	/* offsets in *out */
};

/* A failed allocation is reported by elf_image_finish(). */
void elf_image_begin(struct elf_image *m, const struct elf *like, struct buf *out);
/* A section that was started, but is not ended, is left out if the caller truncates *out to m->section_start. */
void elf_image_start_section(struct elf_image *m);
void elf_image_end_section(struct elf_image *m, const char *name, uint64_t addr, uint64_t flags);
int elf_image_finish(struct elf_image *m);	/* 0 or -ENOMEM */
void elf_image_done(struct elf_image *m);

/* Writes a number of n bytes, at most 8, in the byte order of a file. */
void elf_put_uint(uint8_t *to, bool swap, uint64_t value, unsigned n);

#endif
