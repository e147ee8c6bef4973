/*
 * An arena allocator: allocations are freed all at once by arena_done(). It suits parsers and tables
 * whose parts have the same lifetime. A zero-initialized arena is empty.
 */
#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include "base/str.h"

struct arena_block;
struct arena {
	struct arena_block *last;
};

void *arena_alloc(struct arena *a, size_t n);		/* zeroed, aligned for any type; or NULL */
char *arena_str(struct arena *a, struct str s);		/* NUL-terminated copy; or NULL */
char *arena_text(struct arena *a, struct str s);	/* copy of untrusted text, after str_make_printable() */
void arena_done(struct arena *a);			/* frees all allocations; the arena is empty again */

#endif
