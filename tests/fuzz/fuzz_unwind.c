/*
 * Any bytes as call frame information. The first byte selects the machine, and .eh_frame or .debug_frame; the rest
 * is the section. Its table must be sorted and complete, and walking a stack by it, whose words are the same bytes,
 * must end.
 */
#include <stdint.h>
#include <stdlib.h>

#include "symbol/elf.h"
#include "unwind/build_table.h"
#include "unwind/cfi.h"
#include "unwind/walk.h"

#define SECTION_ADDRESS 0x400000u
#define MAX_FRAMES 256u

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static int add_row(void *arg, uint64_t address, const struct unwind_rule *rule)
{
	return unwind_builder_add(arg, address, rule);
}

static void check_table(const struct unwind_table *t)
{
	if (t->pages.v[t->pages.n - 1] != t->rows.n)
		abort();
	for (size_t page = 0; page + 1 < t->pages.n; page++)
		for (size_t i = t->pages.v[page]; i < t->pages.v[page + 1]; i++) {
			uint64_t address = t->base + ((uint64_t)page << UNWIND_PAGE_BITS) + t->rows.v[i].low;
			const struct unwind_rule *rule = unwind_table_find(t, address);

			if (i > t->pages.v[page] && t->rows.v[i].low <= t->rows.v[i - 1].low)
				abort();
			if (rule != (t->rows.v[i].rule ? &t->rules.v[t->rows.v[i].rule] : NULL))
				abort();
		}
}

static struct unwind_code look_up(void *arg, uint64_t address)
{
	const struct unwind_table *t = arg;

	return (struct unwind_code){ unwind_table_find(t, address), true };
}

static void walk(const struct unwind_arch *arch, struct unwind_table *t, const uint8_t *bytes, size_t n)
{
	struct unwind_stack s = { .arch = arch, .known = (1ull << arch->n_regs) - 1, .start = 0x7000, .bytes = bytes, .n = n };
	uint64_t frames[MAX_FRAMES];
	size_t n_frames = 0;

	for (unsigned i = 0; i < arch->n_regs; i++)
		s.regs[i] = 0x7000 + i * 8;
	s.regs[arch->sp] = 0x7000;
	s.ip = t->base;
	unwind_walk(&s, look_up, t, frames, MAX_FRAMES, &n_frames);
	if (n_frames < 1 || n_frames > MAX_FRAMES)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	struct cfi c = { .arch = unwind_arch_of(n && bytes[0] & 2 ? ELF_EM_AARCH64 : ELF_EM_X86_64) };
	struct cfi_section section = { .bytes = bytes + 1, .n = n - 1, .addr = SECTION_ADDRESS, .eh = n && !(bytes[0] & 1),
				       .address_bytes = 8 };
	struct unwind_builder b = { 0 };
	struct unwind_table t = { 0 };

	if (n < 2)
		return 0;
	if (cfi_add_section(&c, &section) == 0 && c.fdes.n) {
		cfi_sort(&c);
		if (unwind_builder_init(&b, &t, c.fdes.v[0].start) < 0)
			abort();
		for (size_t i = 0; i < c.fdes.n; i++) {
			cfi_run(&c, &c.fdes.v[i], add_row, &b);
			unwind_builder_add(&b, c.fdes.v[i].end, NULL);
		}
		if (unwind_builder_finish(&b) < 0)
			abort();
		check_table(&t);
		walk(c.arch, &t, bytes, n);
	}
	unwind_builder_done(&b);
	unwind_table_done(&t);
	cfi_done(&c);
	return 0;
}
