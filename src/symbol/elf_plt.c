/*
 * Symbols for the procedure linkage table. PLT entries have no symbols of their own: they are named
 * after the relocations of their GOT slots, in slot order, which is not always relocation order
 * (they differ in glibc). Header and entry sizes depend on the machine and the section:
 *
 *	x86 .plt	16-byte header, 16-byte entries
 *	x86 .plt.sec	no header, 16-byte entries; called instead of .plt entries with IBT
 *	x86 .plt.got	no header, 8 or 16-byte entries; for functions whose address is also taken: each
 *			jumps through a slot filled by a relocation in .rela.dyn
 *	arm64		32-byte header, 16-byte entries
 *	arm		20-byte header, 12-byte entries
 */
#include "symbol/elf_symbols.h"

#include "base/vec.h"

#include <errno.h>
#include <stdio.h>

#define MOST_ENTRIES (1u << 20)
#define R_X86_64_GLOB_DAT 6

struct plt_shape {
	uint16_t machine;
	uint32_t head, each;
};

static const struct plt_shape shapes[] = {
	{ ELF_EM_X86_64, 16, 16 }, { ELF_EM_386, 16, 16 }, { ELF_EM_AARCH64, 32, 16 },
	{ ELF_EM_ARM, 20, 12 },    { ELF_EM_RISCV, 32, 16 },
};

struct got_slot {
	uint64_t address;		/* address of the slot in the GOT */
	uint64_t symbol, addend, type;
};

struct plt {
	const struct elf *e;
	struct elf_dynamic *dyn;
	bool read;			/* *dyn holds the symbols that the relocations refer to */
	struct { struct got_slot *v; size_t n, cap; } slots;
};

static void plt_done(struct plt *p)
{
	vec_done(&p->slots);
}

static struct got_slot slot_of(const struct elf *e, const uint8_t *at, bool addends)
{
	uint64_t info = e->wide ? elf_uint(e->swap, at + 8, 8) : elf_uint(e->swap, at + 4, 4);
	struct got_slot s = { .address = elf_uint(e->swap, at, e->wide ? 8 : 4) };

	s.symbol = e->wide ? info >> 32 : info >> 8;
	s.type = e->wide ? info & UINT32_MAX : info & 255;
	if (addends)
		s.addend = e->wide ? elf_uint(e->swap, at + 16, 8) : elf_uint(e->swap, at + 8, 4);
	return s;
}

static int by_address(const void *a, const void *b)
{
	const struct got_slot *x = a, *y = b;

	return (x->address > y->address) - (x->address < y->address);
}

static int add_slots(struct plt *p, const struct buf *raw, bool addends, uint64_t type)
{
	bool wide = p->e->wide;
	size_t each = (wide ? 16u : 8u) + (addends ? (wide ? 8u : 4u) : 0u);

	for (size_t at = 0; raw->n - at >= each; at += each) {
		struct got_slot s = slot_of(p->e, (const uint8_t *)raw->bytes + at, addends), *new;

		if ((type && s.type != type) || p->slots.n >= MOST_ENTRIES)
			continue;
		new = vec_add(&p->slots);
		if (!new)
			return -ENOMEM;
		*new = s;
	}
	return 0;
}

/* Reads the GOT slots that a relocation section fills, sorted by address; only those of relocation type
 * `type` unless it is 0. */
static int read_slots(struct plt *p, const struct elf_section *rel, uint64_t type)
{
	scoped(buf_done) struct buf raw = { 0 };
	uint64_t at = 0;
	int err = elf_has_section(p->e, rel);

	p->slots.n = 0;
	while (err >= 0 && (err = elf_read_step(p->e, rel, &at, &raw)) > 0)
		err = add_slots(p, &raw, rel->type == ELF_SHT_RELA, type);
	if (p->slots.n)
		qsort(p->slots.v, p->slots.n, sizeof(*p->slots.v), by_address);
	return err;
}

static int read_dynamic(struct elf_dynamic *d, const struct elf *e, const struct elf_section *dyn,
			struct symbol_table *t)
{
	const struct elf_section *str = &e->sections[dyn->link];
	int err;

	elf_dynamic_done(d);
	d->strings = t->strings.n;
	if (t->strings.n + str->size > UINT32_MAX / 2)
		return -EFBIG;
	err = elf_read_section(e, dyn, &d->symbols);
	if (err == 0)
		err = elf_read_section(e, str, &t->strings);
	if (err < 0)
		return err;
	d->section = dyn;
	d->n_strings = t->strings.n - d->strings;
	buf_putc(&t->strings, '\0');
	return buf_failed(&t->strings) ? -ENOMEM : 0;
}

/* Reads the symbols that a section's relocations refer to, unless they have been read before, as is usual. */
static int read_symbols(struct plt *p, const struct elf_section *rel, struct symbol_table *t)
{
	const struct elf *e = p->e;
	const struct elf_section *dyn;
	int err;

	if (rel->link >= e->n_sections || e->sections[rel->link].link >= e->n_sections)
		return -EBADMSG;
	dyn = &e->sections[rel->link];
	err = p->dyn->section == dyn ? 0 : read_dynamic(p->dyn, e, dyn, t);
	p->read = err == 0 && p->dyn->symbols.n;
	return err;
}

/* Adds one PLT entry, named after its slot. A slot without a symbol is filled by an IFUNC resolver in the
 * same object: the entry is named after the address of the resolver, and shown by its name if it has one. */
static int add_entry(struct plt *p, struct symbol_table *t, const struct got_slot *s, uint64_t at,
		     uint64_t size)
{
	size_t each = p->e->wide ? 24 : 16;
	char text[40];
	uint32_t name;

	if (s->symbol && s->symbol < p->dyn->symbols.n / each) {
		const uint8_t *sym = (const uint8_t *)p->dyn->symbols.bytes + s->symbol * each;
		uint64_t known = elf_uint(p->e->swap, sym, 4);

		if (known && known < p->dyn->n_strings)
			return symbol_table_add(t, at, size, (uint32_t)(p->dyn->strings + known), SYMBOL_PLT);
	}
	snprintf(text, sizeof(text), "*ABS*+0x%llx", (unsigned long long)s->addend);
	name = (uint32_t)t->strings.n;
	buf_put(&t->strings, text, strlen(text) + 1);
	if (buf_failed(&t->strings))
		return -ENOMEM;
	return symbol_table_add(t, at, size, name, SYMBOL_PLT | SYMBOL_RESOLVER);
}

static int add_head(struct symbol_table *t, uint64_t at, uint32_t size)
{
	uint32_t name = (uint32_t)t->strings.n;

	buf_put(&t->strings, ".plt", sizeof(".plt"));
	if (buf_failed(&t->strings))
		return -ENOMEM;
	return symbol_table_add(t, at, size, name, SYMBOL_LOCAL);
}

static int add_entries(struct plt *p, struct symbol_table *t, const struct plt_shape *shape)
{
	const struct elf_section *plt = elf_find_section(p->e, ".plt");
	const struct elf_section *second = elf_find_section(p->e, ".plt.sec");
	uint64_t at, end;
	int err = 0;

	if (plt && plt->type != ELF_SHT_NOBITS && plt->size >= shape->head)
		err = add_head(t, plt->addr, shape->head);
	if (second)
		plt = second;
	if (!plt || plt->type == ELF_SHT_NOBITS || plt->size > UINT32_MAX)
		return err;
	at = plt->addr + (second ? 0 : shape->head);
	end = plt->addr + plt->size;
	for (size_t i = 0; err == 0 && i < p->slots.n && at < end; i++, at += shape->each)
		err = add_entry(p, t, &p->slots.v[i], at, shape->each);
	return err;
}

/* Entries of .plt.got: finds "jmp *offset(%rip)" in each entry and the slot it jumps through. */
static int add_got_entries(struct plt *p, struct symbol_table *t, const struct elf_section *got)
{
	scoped(buf_done) struct buf code = { 0 };
	size_t each = got->entsize == 16 ? 16 : 8;
	int err = got->size > (1u << 20) ? 0 : elf_read_section(p->e, got, &code);

	for (size_t at = 0; err == 0 && code.n - at >= each; at += each) {
		const uint8_t *entry = (const uint8_t *)code.bytes + at;
		size_t jump = 0;
		struct got_slot key = { 0 }, *s;

		while (jump + 6 <= each && (entry[jump] != 0xff || entry[jump + 1] != 0x25))
			jump++;
		if (jump + 6 > each)
			continue;
		key.address = got->addr + at + jump + 6 +
			      (uint64_t)(int64_t)(int32_t)elf_uint(p->e->swap, entry + jump + 2, 4);
		s = p->slots.n ? bsearch(&key, p->slots.v, p->slots.n, sizeof(*s), by_address) : NULL;
		if (s)
			err = add_entry(p, t, s, got->addr + at, each);
	}
	return err;
}

static int add_plt_got(struct plt *p, struct symbol_table *t)
{
	const struct elf_section *got = elf_find_section(p->e, ".plt.got");
	const struct elf_section *rel = elf_find_section(p->e, ".rela.dyn");
	int err;

	if (p->e->machine != ELF_EM_X86_64 || !got || !rel)
		return 0;
	err = read_slots(p, rel, R_X86_64_GLOB_DAT);
	if (err == 0 && !p->read)
		err = read_symbols(p, rel, t);
	return err < 0 ? err : add_got_entries(p, t, got);
}

static const struct plt_shape *shape_of(const struct elf *e)
{
	for (size_t i = 0; i < countof(shapes); i++)
		if (shapes[i].machine == e->machine)
			return &shapes[i];
	return NULL;
}

int elf_add_plt(const struct elf *e, struct symbol_table *t, struct elf_dynamic *known)
{
	const struct elf_section *rel = elf_find_section(e, ".rela.plt");
	const struct plt_shape *shape = shape_of(e);
	scoped(plt_done) struct plt p = { .e = e, .dyn = known };
	int err = 0;

	if (!rel)
		rel = elf_find_section(e, ".rel.plt");
	if (!shape)
		return 0;
	if (rel) {
		err = read_symbols(&p, rel, t);
		if (err == 0)
			err = read_slots(&p, rel, 0);
		if (err == 0)
			err = add_entries(&p, t, shape);
	}
	return err == 0 ? add_plt_got(&p, t) : err;
}
