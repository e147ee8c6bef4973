/*
 * Symbols that are embedded in a recording, so that it can be read on another machine: the functions, source lines and
 * inlined functions at the addresses of its samples, by object. embed_write.c makes them and embedded.c reads them; the
 * bytes may come from a stranger, and every number is checked.
 *
 * The format: the magic, then, compressed by zstd, a version, the texts (NUL-terminated, referred to by offset, the first is
 * empty), and the objects. Numbers are ULEB128; addresses are differences from the one before.
 *
 *	object:    kind | path | build ID | segments | functions | lines | inlined
 *	segment:   offset | address | size in the file | size in memory
 *	function:  start | size | name | module (text 0: none)
 *	line:      address | file | line
 *	inlined:   address | n | n x (name | file and line of its call)
 *
 * Names are as in the object, not demangled.
 */
#ifndef SYMBOL_EMBED_EMBEDDED_H
#define SYMBOL_EMBED_EMBEDDED_H

#include "symbol/dwarf_line.h"
#include "symbol/inlines.h"
#include "symbol/objects.h"

#define EMBEDDED_MAGIC "tacho symbols\n"
#define EMBEDDED_VERSION 1u
#define EMBEDDED_BYTES_MAX (256u << 20)		/* decompressed */

enum embedded_kind { EMBEDDED_FILE, EMBEDDED_KERNEL, EMBEDDED_VDSO, EMBEDDED_JIT };

struct embedded_function {
	uint64_t start, size;
	uint32_t name, module;		/* offsets of texts */
};
struct embedded_line {
	uint64_t address;
	uint32_t file, line;
};
struct embedded_inline {		/* n calls from `first` on, innermost first */
	uint64_t address;
	uint32_t first, n;
};
struct embedded_call {
	uint32_t name, file, line;
};

struct embedded_object {
	enum embedded_kind kind;
	uint32_t path;
	struct build_id build_id;
	struct { struct elf_segment *v; size_t n, cap; } segments;
	struct { struct embedded_function *v; size_t n, cap; } functions;
	struct { struct embedded_line *v; size_t n, cap; } lines;
	struct { struct embedded_inline *v; size_t n, cap; } inlined;
	struct { struct embedded_call *v; size_t n, cap; } calls;
};

struct embedded {
	struct buf bytes;		/* decompressed; owner of the texts */
	const char *texts;
	size_t n_texts;
	struct { struct embedded_object *v; size_t n, cap; } objects;
};

/* Returns 0, -EBADMSG, -EOPNOTSUPP for a newer version, -EFBIG, -ENOMEM. */
int embedded_read(struct embedded **out, const void *bytes, size_t n);
/* The same of decompressed bytes, without the magic, which are taken from the caller, also on failure. */
int embedded_parse(struct embedded **out, struct buf *raw);
void embedded_free(struct embedded *e);

/* What there is about an object, by its kind, path and build ID; NULL: nothing. `e` may be NULL. */
const struct embedded_object *embedded_find(const struct embedded *e, const struct object *obj);
/* Adds the functions to a table, which must then be finished. 0 or -ENOMEM. */
int embedded_add_symbols(const struct embedded *e, const struct embedded_object *o, struct symbol_table *t);
/* Copies the PT_LOAD segments. 0 or -ENOMEM. */
int embedded_add_segments(const struct embedded_object *o, struct object *obj);
/* Fills in a table of lines. 0, -ENODATA, -ENOMEM. */
int embedded_add_lines(const struct embedded *e, const struct embedded_object *o, struct dwarf_lines *out);
/* Like inlines_find(). */
int embedded_find_inlines(const struct embedded *e, const struct embedded_object *o, uint64_t address,
			  const struct inlines_opts *opts, struct inlined_function out[INLINE_DEPTH_MAX]);

#endif
