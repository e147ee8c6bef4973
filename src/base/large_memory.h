/*
 * Memory for large tables. Those that are read here and there: the kernel is asked for huge pages, so that
 * finding out where a page lies does not cost more than reading it. Those that come one after the other:
 * what one has left, the next one takes.
 */
#ifndef BASE_LARGE_MEMORY_H
#define BASE_LARGE_MEMORY_H

#include "base/defs.h"

#define HUGE_PAGE_BYTES ((size_t)2 << 20)
#define CACHE_LINE_BYTES 64u			/* of the cache */

/* n bytes of anything, aligned for a cache line at least; for free(). NULL without memory. */
void *large_alloc_huge(size_t n);

/* From now on what is freed is kept for what comes: a command that reads a file and ends makes one
 * large table after the other, and a page that the kernel hands out anew costs more than filling it. */
void large_enable_reuse(void);
/* n bytes of anything, perhaps what was given back before; new ones begin with a line, so that what has
 * half the size of one lies on one. For large_free() or free(). NULL without memory. */
void *large_alloc(size_t n);
/* All of it will be written soon: the kernel hands out the pages now, many at a time. A wish. */
void large_prefault(void *at, size_t n);
void *large_alloc_zeroed(size_t n);		/* n zeros, wherever they begin */
void large_free(void *at);		/* for what comes, if it is large */
size_t large_usable_bytes(void *at);		/* how many bytes there are at least; 0: nobody knows */

#endif
