#include "base/large_memory.h"

#include <limits.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif
#include <sys/mman.h>

void *large_alloc_huge(size_t n)
{
	size_t align = n < HUGE_PAGE_BYTES ? CACHE_LINE_BYTES : HUGE_PAGE_BYTES, bytes;
	void *at;

	if (__builtin_add_overflow(n, align - 1, &bytes))
		return NULL;
	bytes &= ~(align - 1);
	at = aligned_alloc(align, bytes);
	if (at && align == HUGE_PAGE_BYTES)
		madvise(at, bytes, MADV_HUGEPAGE);	/* a wish: small pages do as well */
	return at;
}

/* malloc() keeps what is smaller than this, the most it can be told; a few that are larger stand here. */
#define KEPT_LEAST (32 << 20)
static _Atomic(void *) kept[8];
static atomic_bool keeps;

void large_enable_reuse(void)
{
#ifdef __GLIBC__
	mallopt(M_MMAP_THRESHOLD, KEPT_LEAST);
	mallopt(M_TRIM_THRESHOLD, INT_MAX);
	mallopt(M_TOP_PAD, 1 << 20);
	atomic_store(&keeps, true);
#endif
}

size_t large_usable_bytes(void *at)
{
#ifdef __GLIBC__
	return malloc_usable_size(at);
#else
	(void)at;
	return 0;
#endif
}

static bool kept_put(void *at)
{
	for (size_t i = 0; i < countof(kept); i++) {
		void *none = NULL;

		if (atomic_compare_exchange_strong(&kept[i], &none, at))
			return true;
	}
	return false;
}

/* One that is large enough, or NULL. */
static void *kept_get(size_t n)
{
	for (size_t i = 0; i < countof(kept) && n >= KEPT_LEAST && atomic_load(&keeps); i++) {
		void *at = atomic_exchange(&kept[i], NULL);

		if (large_usable_bytes(at) >= n)
			return at;
		if (at && !kept_put(at))
			free(at);
	}
	return NULL;
}

void *large_alloc(size_t n)
{
	void *at = kept_get(n);
	size_t bytes;

	if (at || __builtin_add_overflow(n, CACHE_LINE_BYTES - 1, &bytes))
		return at;
	return aligned_alloc(CACHE_LINE_BYTES, bytes & ~(size_t)(CACHE_LINE_BYTES - 1));
}

void large_prefault(void *at, size_t n)
{
#ifdef MADV_POPULATE_WRITE
	uintptr_t page = 4096;		/* refused where they are larger */
	uintptr_t from = ((uintptr_t)at + page - 1) & ~(page - 1), to = ((uintptr_t)at + n) & ~(page - 1);

	if (from < to)
		madvise((void *)from, to - from, MADV_POPULATE_WRITE);
#else
	(void)at;
	(void)n;
#endif
}

void *large_alloc_zeroed(size_t n)
{
	void *at = kept_get(n);

	if (at)
		return memset(at, 0, n);
	at = calloc(1, n);
	if (at && n >= KEPT_LEAST)
		large_prefault(at, n);
	return at;
}

void large_free(void *at)
{
	if (!atomic_load(&keeps) || large_usable_bytes(at) < KEPT_LEAST || !kept_put(at))
		free(at);
}
