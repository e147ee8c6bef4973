/*
 * The n-th allocation of the code under test fails: set `fail_at`, with `count` at 0. Included
 * once, by a test_*_nomem.c; the build diverts the allocator's calls to these.
 */
#ifndef TEST_NOMEM_H
#define TEST_NOMEM_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>

void *__wrap_malloc(size_t n);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *p, size_t n);
void *__wrap_reallocarray(void *p, size_t n, size_t size);
void *__real_malloc(size_t n);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t n);
void *__real_reallocarray(void *p, size_t n, size_t size);

static unsigned long count, fail_at;		/* fail_at 0: none fails */

static bool fails(void)
{
	if (!fail_at || ++count != fail_at)
		return false;
	errno = ENOMEM;
	return true;
}

void *__wrap_malloc(size_t n)
{
	return fails() ? NULL : __real_malloc(n);
}

void *__wrap_calloc(size_t n, size_t size)
{
	return fails() ? NULL : __real_calloc(n, size);
}

void *__wrap_realloc(void *p, size_t n)
{
	return fails() ? NULL : __real_realloc(p, n);
}

void *__wrap_reallocarray(void *p, size_t n, size_t size)
{
	return fails() ? NULL : __real_reallocarray(p, n, size);
}

#endif
