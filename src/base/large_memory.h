/*
 * Allocation of large tables. large_alloc_huge() is for tables with random access: it asks the kernel for
 * huge pages, which saves TLB misses. large_alloc() is for tables that replace each other, as in a command
 * that processes one file: with large_enable_reuse(), freed memory is kept for the next large allocation.
 */
#ifndef BASE_LARGE_MEMORY_H
#define BASE_LARGE_MEMORY_H

#include "base/defs.h"

#define HUGE_PAGE_BYTES ((size_t)2 << 20)
#define CACHE_LINE_BYTES 64u

/* n uninitialized bytes, aligned to a cache line at least, or NULL. Release them with free(). */
void *large_alloc_huge(size_t n);

/* From now on, freed memory is kept for later allocations. Meant for commands that read a file and exit:
 * they build one large table after the other, and a page fault costs more than filling the page. */
void large_enable_reuse(void);
/* n uninitialized bytes, or NULL; possibly memory that was freed before. New memory is aligned to a cache
 * line, so that elements of half a line never cross one. Release it with large_free() or free(). */
void *large_alloc(size_t n);
/* Asks the kernel to map all pages now, many at a time, because all of them will be written soon. */
void large_prefault(void *at, size_t n);
void *large_alloc_zeroed(size_t n);	/* n zero bytes, or NULL; no particular alignment */
void large_free(void *at);		/* keeps large blocks for reuse; NULL is fine */
size_t large_usable_bytes(void *at);	/* size of the allocation at `at`; 0: unknown */

#endif
