#include "base/pages.h"

#include <sys/mman.h>

void *pages_alloc(size_t n)
{
	size_t align = n < PAGES_HUGE ? 64 : PAGES_HUGE, bytes;
	void *at;

	if (__builtin_add_overflow(n, align - 1, &bytes))
		return NULL;
	bytes &= ~(align - 1);
	at = aligned_alloc(align, bytes);
	if (at && align == PAGES_HUGE)
		madvise(at, bytes, MADV_HUGEPAGE);	/* a wish: small pages do as well */
	return at;
}
