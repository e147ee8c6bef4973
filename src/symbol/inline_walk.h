/*
 * Walks the debug entries of a unit or a function, with a limit on the work per file.
 */
#ifndef SYMBOL_INLINE_WALK_H
#define SYMBOL_INLINE_WALK_H

#include "symbol/debug/debug_data.h"
#include "symbol/dwarf_line.h"

#include "base/painted_ranges.h"

#define INLINE_CALL_NONE UINT32_MAX

struct inline_walk {
	struct code_sections code;
	uint64_t bytes_left;		/* of debug entries that may still be walked */
	uint64_t bias;			/* added to the addresses of entries */
};

struct inline_call {
	uint64_t offset;		/* of its entry */
	uint32_t outer;			/* index of the call that contains it, or INLINE_CALL_NONE */
	uint32_t name;			/* interned, valid if `named` */
	bool named;
	bool placed;			/* the position of the call was read: */
	const char *file;
	uint32_t line;
};

struct inline_calls {
	struct inline_call *v;
	size_t n, cap;
};

struct inline_functions {
	uint64_t *v;			/* offsets of their entries */
	size_t n, cap;
};

/* Adds the addresses of an entry; those outside of code sections were discarded by the linker. 0 or -ENOMEM. */
int inline_walk_ranges(const struct inline_walk *w, const struct debug_entry *e, uint32_t value, struct painted_ranges *out);
/* Lists the concrete functions of a unit and their addresses, with `inside` also those inside other functions. Returns 0,
 * -EFBIG when the limit was reached, -ENOMEM. */
int inline_walk_functions(struct inline_walk *w, struct debug_unit *unit, bool inside, struct inline_functions *out,
			  struct painted_ranges *ranges);
/* Lists the calls inlined into a function and their addresses. Returns like inline_walk_functions(). */
int inline_walk_calls(struct inline_walk *w, struct debug_unit *unit, uint64_t function, struct inline_calls *out,
		      struct painted_ranges *ranges);

#endif
