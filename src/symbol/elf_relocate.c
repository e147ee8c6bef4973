/*
 * Only the absolute relocations of 32 and 64 bits, which are those of debug data. The others, of code and of .eh_frame, are
 * left out.
 */
#include "symbol/elf_relocate.h"

#include <errno.h>

#define LAYOUT_START 0x10000u		/* debug data uses 0 for code that was removed */
#define LAYOUT_ALIGN 4096u
#define SECTION_BYTES_MAX (1ull << 40)
#define SHN_ABS 0xfff1u

int elf_layout(const struct elf *e, uint64_t **addresses)
{
	uint64_t *out = calloc(e->n_sections + 1, sizeof(*out)), at = LAYOUT_START;

	if (!out)
		return -ENOMEM;
	for (size_t i = 0; i < e->n_sections; i++) {
		const struct elf_section *s = &e->sections[i];

		if (!(s->flags & ELF_SHF_ALLOC) || s->size > SECTION_BYTES_MAX)
			continue;
		out[i] = at;
		at += (s->size + LAYOUT_ALIGN) / LAYOUT_ALIGN * LAYOUT_ALIGN;
	}
	*addresses = out;
	return 0;
}

/* How many bytes a relocation changes; 0: it is not an absolute one. */
static unsigned relocated_bytes(uint16_t machine, uint32_t type)
{
	static const struct { uint16_t machine; uint32_t type; unsigned bytes; } known[] = {
		{ ELF_EM_X86_64, 1, 8 }, { ELF_EM_X86_64, 10, 4 }, { ELF_EM_X86_64, 11, 4 },	/* 64, 32, 32S */
		{ ELF_EM_AARCH64, 257, 8 }, { ELF_EM_AARCH64, 258, 4 },				/* ABS64, ABS32 */
	};

	for (size_t i = 0; i < countof(known); i++)
		if (known[i].machine == machine && known[i].type == type)
			return known[i].bytes;
	return 0;
}

struct relocator {
	const struct elf *e;
	struct buf symbols;
	uint64_t *addresses;
};

/* The value of a symbol of a 64-bit file; false: it is not defined in the file. */
static bool value_of(const struct relocator *r, uint32_t symbol, uint64_t *out)
{
	const uint8_t *at = (const uint8_t *)r->symbols.bytes + (size_t)symbol * 24;
	uint16_t section;

	if ((uint64_t)symbol * 24 + 24 > r->symbols.n)
		return false;
	section = (uint16_t)elf_uint(r->e->swap, at + 6, 2);
	*out = elf_uint(r->e->swap, at + 8, 8);
	if (section < r->e->n_sections && section)
		*out += r->addresses[section];
	return section == SHN_ABS || (section && section < r->e->n_sections);
}

static void put_value(bool swap, uint8_t *at, uint64_t value, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		at[elf_is_big_endian(swap) ? n - 1 - i : i] = (uint8_t)(value >> 8 * i);
}

static void apply(const struct relocator *r, const uint8_t *entry, uint8_t *bytes, size_t n)
{
	uint64_t offset = elf_uint(r->e->swap, entry, 8), info = elf_uint(r->e->swap, entry + 8, 8), value;
	unsigned width = relocated_bytes(r->e->machine, (uint32_t)info);

	if (!width || offset > n || n - offset < width || !value_of(r, (uint32_t)(info >> 32), &value))
		return;
	put_value(r->e->swap, bytes + offset, value + elf_uint(r->e->swap, entry + 16, 8), width);
}

static int apply_section(struct relocator *r, const struct elf_section *rela, uint8_t *bytes, size_t n)
{
	scoped(buf_done) struct buf entries = { 0 };
	int err;

	if (rela->link >= r->e->n_sections)
		return 0;
	buf_clear(&r->symbols);
	err = elf_read_section(r->e, &r->e->sections[rela->link], &r->symbols);
	if (err == 0)
		err = elf_read_section(r->e, rela, &entries);
	for (size_t at = 0; err == 0 && at + 24 <= entries.n; at += 24)
		apply(r, (const uint8_t *)entries.bytes + at, bytes, n);
	return err == -ENOMEM ? err : 0;
}

int elf_relocate_section(const struct elf *e, const struct elf_section *s, uint8_t *bytes, size_t n)
{
	struct relocator r = { .e = e };
	size_t index = (size_t)(s - e->sections);
	int err;

	if (!e->wide || (e->machine != ELF_EM_X86_64 && e->machine != ELF_EM_AARCH64))
		return -EOPNOTSUPP;
	err = elf_layout(e, &r.addresses);
	for (size_t i = 0; err == 0 && i < e->n_sections; i++)
		if (e->sections[i].type == ELF_SHT_RELA && e->sections[i].info == index) {
			err = apply_section(&r, &e->sections[i], bytes, n);
			break;		/* a section has one table of relocations */
		}
	buf_done(&r.symbols);
	free(r.addresses);
	return err;
}
