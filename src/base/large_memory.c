/*
 * Allocation of large tables, on top of malloc(). With reuse enabled, blocks below REUSE_MIN_BYTES stay in
 * malloc's heap, and a few larger ones wait in `reusable` for the next request that fits.
 */
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
		madvise(at, bytes, MADV_HUGEPAGE);	/* a hint: failure is harmless */
	return at;
}

/* Smaller blocks are reusable by malloc() itself. Larger ones are mapped: those that only the building of a symbol table needs
 * were most of the memory of a report with an empty cache. */
#define REUSE_MIN_BYTES (4 << 20)
static _Atomic(void *) reusable[8];
static atomic_bool reuse_enabled;

void large_enable_reuse(void)
{
#ifdef __GLIBC__
	mallopt(M_MMAP_THRESHOLD, REUSE_MIN_BYTES);
	mallopt(M_TRIM_THRESHOLD, INT_MAX);
	mallopt(M_TOP_PAD, 1 << 20);
	atomic_store(&reuse_enabled, true);
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

static bool reusable_put(void *at)
{
	for (size_t i = 0; i < countof(reusable); i++) {
		void *none = NULL;

		if (atomic_compare_exchange_strong(&reusable[i], &none, at))
			return true;
	}
	return false;
}

/* A reusable block of at least n bytes, or NULL. */
static void *reusable_take(size_t n)
{
	for (size_t i = 0; i < countof(reusable) && n >= REUSE_MIN_BYTES && atomic_load(&reuse_enabled); i++) {
		void *at = atomic_exchange(&reusable[i], NULL);

		if (large_usable_bytes(at) >= n)
			return at;
		if (at && !reusable_put(at))
			free(at);
	}
	return NULL;
}

void *large_alloc(size_t n)
{
	void *at = reusable_take(n);
	size_t bytes;

	if (at || __builtin_add_overflow(n, CACHE_LINE_BYTES - 1, &bytes))
		return at;
	return aligned_alloc(CACHE_LINE_BYTES, bytes & ~(size_t)(CACHE_LINE_BYTES - 1));
}

void large_prefault(void *at, size_t n)
{
#ifdef MADV_POPULATE_WRITE
	uintptr_t page = 4096;		/* kernels with larger pages refuse the call, which is harmless */
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
	void *at = reusable_take(n);

	if (at)
		return memset(at, 0, n);
	at = calloc(1, n);
	if (at && n >= REUSE_MIN_BYTES)
		large_prefault(at, n);
	return at;
}

void large_free(void *at)
{
	if (!atomic_load(&reuse_enabled) || large_usable_bytes(at) < REUSE_MIN_BYTES || !reusable_put(at))
		free(at);
}
