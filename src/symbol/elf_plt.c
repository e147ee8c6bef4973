/*
 * The procedure linkage table has no symbols: its entries are named after the relocations that
 * fill their slots, in the same order. Where the entries begin and how long they are differs:
 *
 *	x86 .plt	a head of 16 bytes, then 16 each
 *	x86 .plt.sec	no head, 16 each: what is called where .plt has landing pads (IBT)
 *	arm64		a head of 32, then 16 each
 *	arm		a head of 20, then 12 each
 */
#include "symbol/elf_symbols.h"

#include <errno.h>
#include <stdio.h>

#define MOST_ENTRIES (1u << 20)

struct plt_shape {
	uint16_t machine;
	uint32_t head, each;
};

static const struct plt_shape shapes[] = {
	{ ELF_EM_X86_64, 16, 16 }, { ELF_EM_386, 16, 16 }, { ELF_EM_AARCH64, 32, 16 },
	{ ELF_EM_ARM, 20, 12 },    { ELF_EM_RISCV, 32, 16 },
};

struct plt {
	const struct elf *e;
	struct buf relocs, symbols;
	size_t strings;			/* where .dynstr begins in the table's strings */
	size_t n_strings;
	size_t reloc_bytes, symbol_bytes;
	bool addends;
};

static void plt_done(struct plt *p)
{
	buf_done(&p->relocs);
	buf_done(&p->symbols);
}

static const struct elf_section *relocations(const struct elf *e)
{
	const struct elf_section *s = elf_find_section(e, ".rela.plt");

	return s ? s : elf_find_section(e, ".rel.plt");
}

static int plt_load(struct plt *p, const struct elf_section *rel, struct table *t)
{
	const struct elf *e = p->e;
	const struct elf_section *dyn, *str;
	int err;

	if (rel->link >= e->n_sections)
		return -EBADMSG;
	dyn = &e->sections[rel->link];
	if (dyn->link >= e->n_sections)
		return -EBADMSG;
	str = &e->sections[dyn->link];
	p->addends = rel->type == ELF_SHT_RELA;
	p->reloc_bytes = (e->wide ? 16u : 8u) + (p->addends ? (e->wide ? 8u : 4u) : 0u);
	p->symbol_bytes = e->wide ? 24 : 16;
	p->strings = t->strings.n;
	if (t->strings.n + str->size > UINT32_MAX / 2)
		return -EFBIG;
	if ((err = elf_read_section(e, rel, &p->relocs)) < 0 ||
	    (err = elf_read_section(e, dyn, &p->symbols)) < 0 ||
	    (err = elf_read_section(e, str, &t->strings)) < 0)
		return err;
	p->n_strings = t->strings.n - p->strings;
	buf_putc(&t->strings, '\0');
	return buf_failed(&t->strings) ? -ENOMEM : 0;
}

/* The name of relocation `i` as an offset into the strings. An entry without a symbol jumps to
 * what a resolver in the same object chose: it is called after the resolver's address. */
static int entry_name(const struct plt *p, size_t i, struct table *t, uint32_t *out)
{
	const uint8_t *rel = (const uint8_t *)p->relocs.bytes + i * p->reloc_bytes;
	bool wide = p->e->wide, swap = p->e->swap;
	uint64_t info = wide ? elf_uint(swap, rel + 8, 8) : elf_uint(swap, rel + 4, 4);
	uint64_t index = wide ? info >> 32 : info >> 8, addend = 0;
	char text[40];

	if (index && index < p->symbols.n / p->symbol_bytes) {
		const uint8_t *sym = (const uint8_t *)p->symbols.bytes + index * p->symbol_bytes;
		uint64_t name = elf_uint(swap, sym, 4);

		if (name && name < p->n_strings) {
			*out = (uint32_t)(p->strings + name);
			return 0;
		}
	}
	if (p->addends)
		addend = wide ? elf_uint(swap, rel + 16, 8) : elf_uint(swap, rel + 8, 4);
	snprintf(text, sizeof(text), "*ABS*+0x%llx", (unsigned long long)addend);
	*out = (uint32_t)t->strings.n;
	buf_put(&t->strings, text, strlen(text) + 1);
	return buf_failed(&t->strings) ? -ENOMEM : 0;
}

static const struct plt_shape *shape_of(const struct elf *e)
{
	for (size_t i = 0; i < countof(shapes); i++)
		if (shapes[i].machine == e->machine)
			return &shapes[i];
	return NULL;
}

static int add_entries(struct plt *p, struct table *t, const struct plt_shape *shape)
{
	const struct elf_section *plt = elf_find_section(p->e, ".plt");
	const struct elf_section *second = elf_find_section(p->e, ".plt.sec");
	size_t n = min_of(p->relocs.n / p->reloc_bytes, (size_t)MOST_ENTRIES);
	uint64_t at, end;

	if (second)
		plt = second;
	if (!plt || plt->type == ELF_SHT_NOBITS || plt->size > UINT32_MAX)
		return 0;
	at = plt->addr + (second ? 0 : shape->head);
	end = plt->addr + plt->size;
	for (size_t i = 0; i < n && at < end; i++, at += shape->each) {
		uint32_t name;
		int err = entry_name(p, i, t, &name);

		if (err == 0)
			err = table_add(t, at, shape->each, name, SYMBOL_PLT);
		if (err < 0)
			return err;
	}
	return 0;
}

int elf_add_plt(const struct elf *e, struct table *t)
{
	const struct elf_section *rel = relocations(e);
	const struct plt_shape *shape = shape_of(e);
	scoped(plt_done) struct plt p = { .e = e };
	int err;

	if (!rel || !shape)
		return 0;
	err = plt_load(&p, rel, t);
	if (err < 0)
		return err;
	return add_entries(&p, t, shape);
}
