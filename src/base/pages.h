/*
 * Memory for large tables that are read here and there: the kernel is asked for huge pages, so that
 * finding out where a page lies does not cost more than reading it.
 */
#ifndef BASE_PAGES_H
#define BASE_PAGES_H

#include "base/defs.h"

#define PAGES_HUGE ((size_t)2 << 20)

/* n bytes of anything, aligned for a cache line at least; for free(). NULL without memory. */
void *pages_alloc(size_t n);

#endif
