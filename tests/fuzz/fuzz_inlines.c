/*
 * Any bytes as an object with debug data: whatever they are, looking up inlined functions must end, in bounded memory, and
 * the depth is limited.
 */
#include <stdint.h>
#include <stdlib.h>

#include "symbol/inlines.h"

#define ADDRESSES 256u

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static int check(void *arg, const struct inline_export *f)
{
	(void)arg;
	for (size_t i = 0; i < f->n_calls; i++)
		if (f->calls[i].outer != PAINTED_NONE && f->calls[i].outer >= i)
			abort();
	for (size_t i = 0; i < f->n_ranges; i++)
		if (f->ranges[i].value != PAINTED_NONE && f->ranges[i].value >= f->n_calls)
			abort();
	return 0;
}

static void look_up(struct inlines *m, uint64_t start, uint64_t size)
{
	struct inlined_function found[INLINE_DEPTH_MAX];
	uint64_t step = size / ADDRESSES + 1;

	for (uint64_t at = 0; at < size; at += step)
		if (inlines_find(m, start + at, at & 1, found) > (int)INLINE_DEPTH_MAX)
			abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	struct interned_names names = { 0 };
	const struct inlines_opts opts = { .names = &names };
	struct { uint64_t start, size; } code[4];
	struct inlines *m = NULL;
	size_t n_code = 0;
	struct elf e;

	if (elf_open_bytes(&e, bytes, n) < 0)
		return 0;
	for (size_t i = 0; i < e.n_sections && n_code < countof(code); i++)
		if (e.sections[i].flags & ELF_SHF_EXECINSTR) {
			code[n_code].start = e.sections[i].addr;
			code[n_code++].size = e.sections[i].size;
		}
	if (inlines_open(&m, &e, &opts, n & 1) == 0) {
		for (size_t i = 0; i < n_code; i++)
			look_up(m, code[i].start, code[i].size);
		inlines_export(m, check, NULL);
	}
	inlines_free(m);
	names_done(&names);
	return 0;
}
