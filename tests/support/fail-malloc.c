/*
 * For LD_PRELOAD: one allocation of a program fails. FAIL_PROGRAM is the name of the program (its children run as usual),
 * FAIL_AT the number of the allocation, from 1 on, and FAIL_COUNT a file that gets the number of all allocations at the
 * program's end. With FAIL_ALL set, every allocation from FAIL_AT on fails. Only the program's own allocations count, and
 * those of strdup() and strndup(): other libraries must cope by themselves, and glibc's regcomp() does not.
 */
#include <errno.h>
#include <link.h>
#include <stdint.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern char *program_invocation_short_name;
void *__libc_malloc(size_t n);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *at, size_t n);
void *__libc_memalign(size_t align, size_t n);

static atomic_long count;
static long fail_at;
static bool active, fail_all;
static uintptr_t text_start, text_end;		/* of the program */

/* The first object is the program itself. */
static int find_program(struct dl_phdr_info *info, size_t size, void *arg)
{
	(void)size;
	(void)arg;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];

		if (p->p_type != PT_LOAD || !(p->p_flags & PF_X))
			continue;
		text_start = info->dlpi_addr + p->p_vaddr;
		text_end = text_start + p->p_memsz;
	}
	return 1;
}

__attribute__((constructor)) static void start(void)
{
	const char *program = getenv("FAIL_PROGRAM"), *at = getenv("FAIL_AT");

	fail_at = at ? atol(at) : 0;
	fail_all = getenv("FAIL_ALL") != NULL;
	dl_iterate_phdr(find_program, NULL);
	active = program && strcmp(program, program_invocation_short_name) == 0;
}

__attribute__((destructor)) static void end(void)
{
	const char *path = active ? getenv("FAIL_COUNT") : NULL;
	FILE *f;

	active = false;
	f = path ? fopen(path, "w") : NULL;
	if (!f)
		return;
	fprintf(f, "%ld\n", atomic_load(&count));
	fclose(f);
}

/* `caller` is the return address of an allocation. */
static bool fails(const void *caller)
{
	bool own = active && (uintptr_t)caller - text_start < text_end - text_start;
	long n = own ? atomic_fetch_add(&count, 1) + 1 : 0;

	if (!n || !fail_at || n < fail_at || (n > fail_at && !fail_all))
		return false;
	errno = ENOMEM;
	return true;
}

#define CALLER __builtin_return_address(0)

void *malloc(size_t n)
{
	return fails(CALLER) ? NULL : __libc_malloc(n);
}

void *calloc(size_t n, size_t size)
{
	return fails(CALLER) ? NULL : __libc_calloc(n, size);
}

void *realloc(void *at, size_t n)
{
	return n && fails(CALLER) ? NULL : __libc_realloc(at, n);
}

void *reallocarray(void *at, size_t n, size_t size)
{
	size_t bytes;

	if (__builtin_mul_overflow(n, size, &bytes)) {
		errno = ENOMEM;
		return NULL;
	}
	return bytes && fails(CALLER) ? NULL : __libc_realloc(at, bytes);
}

void *aligned_alloc(size_t align, size_t n)
{
	return fails(CALLER) ? NULL : __libc_memalign(align, n);
}

int posix_memalign(void **out, size_t align, size_t n)
{
	void *at = fails(CALLER) ? NULL : __libc_memalign(align, n);

	if (!at)
		return ENOMEM;
	*out = at;
	return 0;
}

static char *copy(const char *s, size_t n)
{
	char *at = __libc_malloc(n + 1);

	if (at) {
		memcpy(at, s, n);
		at[n] = '\0';
	}
	return at;
}

char *strdup(const char *s)
{
	return fails(CALLER) ? NULL : copy(s, strlen(s));
}

char *strndup(const char *s, size_t n)
{
	return fails(CALLER) ? NULL : copy(s, strnlen(s, n));
}
