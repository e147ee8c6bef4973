/*
 * Reads machine code at an address of an object: of a file, of the vdso, of a function in a jitdump file, or of the
 * kernel. The file of the last object stays open, because callers read many pieces of the same object in turn.
 */
#ifndef SYMBOL_CODE_READER_H
#define SYMBOL_CODE_READER_H

#include <tacho/symbol.h>

#include "symbol/kernel.h"
#include "symbol/objects.h"

struct code_reader {
	const struct object *object;	/* whose file was opened last; NULL: none */
	int err;			/* why it could not be opened, or 0 */
	struct elf file;		/* open if `object` is set and `err` is 0 */
	struct buf bytes;
};

struct code_range {
	uint64_t start;			/* address as in the ELF file */
	size_t n;
};

void code_reader_done(struct code_reader *r);
/* Reads the code of the range, less at the end of its segment or function, and sets *out, which is valid until the next
 * call. Returns 0, -ENOENT if there is no file or no code at the address, -ESTALE if only a file of another build exists,
 * or another negative errno. */
int code_reader_read(struct code_reader *r, const struct kernel *k, struct object *obj, const struct symbol_search *search,
		     const struct code_range *range, struct tacho_code_view *out);

#endif
