/*
 * Built where the headers of elfutils are missing: there are no inlined functions.
 */
#include "symbol/inlines.h"

#include <errno.h>

int inlines_open(struct inlines **out, const struct elf *file, const struct inlines_opts *opts)
{
	(void)out;
	(void)file;
	(void)opts;
	return -EOPNOTSUPP;
}

void inlines_free(struct inlines *m)
{
	(void)m;
}

int inlines_find(struct inlines *m, uint64_t address, bool with_calls, struct inlined_function out[INLINE_DEPTH_MAX])
{
	(void)m;
	(void)address;
	(void)with_calls;
	(void)out;
	return 0;
}

size_t inlines_bytes(const struct inlines *m)
{
	(void)m;
	return 0;
}

uint32_t inlines_intern(const struct inlines_opts *opts, const char *raw)
{
	return names_add(opts->names, str_of(raw));
}

bool inlines_has_more(const struct inlines *m)
{
	(void)m;
	return false;
}

int inlines_export(struct inlines *m, int (*fn)(void *arg, const struct inline_export *f), void *arg)
{
	(void)m;
	(void)fn;
	(void)arg;
	return 0;
}
