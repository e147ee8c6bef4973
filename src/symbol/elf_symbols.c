/*
 * Reads ELF symbol tables. Selects symbols as perf does: defined functions and data objects, and
 * untyped labels in text or data sections, but not mapping symbols such as ARM's $x.
 */
#include "symbol/elf_symbols.h"

#include <errno.h>

enum { STT_NOTYPE = 0, STT_OBJECT = 1, STT_FUNC = 2, STT_GNU_IFUNC = 10 };
enum { STB_LOCAL = 0, STB_WEAK = 2 };
enum { STV_INTERNAL = 1, STV_HIDDEN = 2 };
enum { SHN_UNDEF = 0, SHN_LORESERVE = 0xff00, SHN_XINDEX = 0xffff };

#define AHEAD 16u		/* names are prefetched this many entries ahead */
#define MORE_NAMES 4096u	/* bytes reserved for PLT names and terminators */

struct raw_symbol {
	uint32_t name;
	uint8_t type, bind, visibility;
	uint16_t section;
	uint64_t value, size;
};

static size_t symbol_bytes(const struct elf *e)
{
	return e->wide ? 24 : 16;
}

static struct raw_symbol symbol_of(const struct elf *e, const uint8_t *p)
{
	struct raw_symbol s = { .name = (uint32_t)elf_uint(e->swap, p, 4) };
	uint8_t info = e->wide ? p[4] : p[12], other = e->wide ? p[5] : p[13];

	s.type = info & 15;
	s.bind = info >> 4;
	s.visibility = other & 3;
	if (e->wide) {
		s.section = (uint16_t)elf_uint(e->swap, p + 6, 2);
		s.value = elf_uint(e->swap, p + 8, 8);
		s.size = elf_uint(e->swap, p + 16, 8);
	} else {
		s.section = (uint16_t)elf_uint(e->swap, p + 14, 2);
		s.value = elf_uint(e->swap, p + 4, 4);
		s.size = elf_uint(e->swap, p + 8, 4);
	}
	return s;
}

/* Properties of a section that decide whether its symbols are used. */
enum { IN_MEMORY = 1, HAS_LABELS = 2, IS_TEXT = 4 };

static int section_kinds(const struct elf *e, uint8_t **out)
{
	uint8_t *kinds = calloc(e->n_sections + 1, 1);

	if (!kinds)
		return -ENOMEM;
	for (size_t i = 0; i < e->n_sections; i++) {
		const char *name = elf_section_name(e, &e->sections[i]);

		if (e->sections[i].flags & ELF_SHF_ALLOC)
			kinds[i] |= IN_MEMORY;
		if (strstr(name, "text") || strstr(name, "data"))
			kinds[i] |= HAS_LABELS;
		if (strcmp(name, ".text") == 0)
			kinds[i] |= IS_TEXT;
	}
	*out = kinds;
	return 0;
}

static bool wanted(const struct elf *e, const uint8_t *kinds, const struct raw_symbol *s)
{
	uint8_t kind = IN_MEMORY | IS_TEXT;
	bool label = s->type == STT_NOTYPE;

	if (s->section == SHN_UNDEF)
		return false;
	if (s->section < SHN_LORESERVE)
		kind = s->section < e->n_sections ? kinds[s->section] : 0;
	else if (s->section != SHN_XINDEX || label)
		return false;
	if (!(kind & IN_MEMORY) || (e->type == ELF_ET_REL && !(kind & IS_TEXT)))
		return false;
	if (label)
		return (kind & HAS_LABELS) && s->visibility != STV_HIDDEN &&
		       s->visibility != STV_INTERNAL;
	return s->type == STT_FUNC || s->type == STT_OBJECT || s->type == STT_GNU_IFUNC;
}

/* Mapping symbols of ARM and RISC-V: "$a", "$x.5" ... */
static bool is_marker(const struct elf *e, const char *name)
{
	if (e->machine == ELF_EM_RISCV && name[0] == 'L' && name[1] == '0')
		return true;
	if (e->machine != ELF_EM_ARM && e->machine != ELF_EM_AARCH64 && e->machine != ELF_EM_RISCV)
		return false;
	return name[0] == '$' && name[1] && strchr("adtx", name[1]) &&
	       (e->machine == ELF_EM_RISCV || name[2] == '\0' || name[2] == '.');
}

static int add_one(const struct elf *e, struct symbol_table *t, const uint8_t *kinds, size_t strings,
		   struct raw_symbol s)
{
	const char *name;
	uint32_t flags = 0;
	int err;

	if (s.name == 0 || s.name >= t->strings.n - strings || !wanted(e, kinds, &s))
		return 0;
	name = t->strings.bytes + strings + s.name;
	if (*name == '\0' || is_marker(e, name))
		return 0;
	if (s.bind == STB_LOCAL)
		flags = SYMBOL_LOCAL;
	else if (s.bind == STB_WEAK)
		flags = SYMBOL_WEAK;
	if (e->machine == ELF_EM_ARM && s.type == STT_FUNC)
		s.value &= ~1ull;	/* clear the Thumb bit */
	err = symbol_table_add(t, s.value, s.size, (uint32_t)(strings + s.name), flags);
	return err < 0 ? err : 1;
}

/* Appends the string table of a symbol section to the table's strings; *at is the offset of the first. */
static int add_strings(const struct elf *e, const struct elf_section *s, struct symbol_table *t, size_t *at)
{
	int err;

	if (s->link >= e->n_sections || e->sections[s->link].type != ELF_SHT_STRTAB)
		return -EBADMSG;
	*at = t->strings.n;
	if (t->strings.n + e->sections[s->link].size > UINT32_MAX)
		return -EFBIG;
	err = elf_read_section(e, &e->sections[s->link], &t->strings);
	if (err < 0)
		return err;
	buf_putc(&t->strings, '\0');	/* terminates a last name without NUL */
	return buf_failed(&t->strings) ? -ENOMEM : 0;
}

void elf_dynamic_done(struct elf_dynamic *d)
{
	buf_done(&d->symbols);
	*d = (struct elf_dynamic){ 0 };
}

/* Names are in random order: prefetch them. */
static void fetch_name(const struct elf *e, const struct symbol_table *t, size_t strings,
		       const uint8_t *entry)
{
	uint64_t name = elf_uint(e->swap, entry, 4);

	if (name < t->strings.n - strings)
		__builtin_prefetch(t->strings.bytes + strings + name);
}

static int add_entries(const struct elf *e, const uint8_t *kinds, const struct buf *entries,
		       struct symbol_table *t, size_t strings)
{
	size_t each = symbol_bytes(e), added = 0;
	int err = 0;

	for (size_t at = 0; err >= 0 && entries->n - at >= each; at += each) {
		if (entries->n - at >= (AHEAD + 1) * each)
			fetch_name(e, t, strings, (const uint8_t *)entries->bytes + at + AHEAD * each);
		err = add_one(e, t, kinds, strings, symbol_of(e, (const uint8_t *)entries->bytes + at));
		added += err > 0;
	}
	return err < 0 ? err : (int)added;
}

static int add_in_steps(const struct elf *e, const struct elf_section *s, const uint8_t *kinds,
			struct symbol_table *t, size_t strings)
{
	scoped(buf_done) struct buf entries = { 0 };
	uint64_t at = 0;
	int added = 0, err;

	while ((err = elf_read_step(e, s, &at, &entries)) > 0) {
		err = add_entries(e, kinds, &entries, t, strings);
		if (err < 0)
			return err;
		added += err;
	}
	return err < 0 ? err : added;
}

static uint64_t size_of(const struct elf *e, const struct elf_section *s)
{
	return s && elf_has_section(e, s) == 0 ? s->size : 0;
}

static uint64_t size_of_names(const struct elf *e, const struct elf_section *s)
{
	return s && s->link < e->n_sections ? size_of(e, &e->sections[s->link]) : 0;
}

/* Reserves memory for both tables at once: in large files a reallocation would copy megabytes. */
static int reserve(const struct elf *e, const struct elf_section *a, const struct elf_section *b,
		   struct symbol_table *t)
{
	return symbol_table_reserve(t, (size_t)((size_of(e, a) + size_of(e, b)) / symbol_bytes(e)),
			     (size_t)(size_of_names(e, a) + size_of_names(e, b)) + MORE_NAMES);
}

/* Stores the raw entries in *kept, unless it is NULL. */
static int add_table(const struct elf *e, const struct elf_section *s, const uint8_t *kinds,
		     struct symbol_table *t, struct elf_dynamic *kept)
{
	size_t each = symbol_bytes(e), strings = 0;
	int err;

	if (!s)
		return 0;
	if (s->entsize && s->entsize != each)
		return -EBADMSG;
	err = kept ? elf_read_section(e, s, &kept->symbols) : elf_has_section(e, s);
	if (err == 0)
		err = add_strings(e, s, t, &strings);
	if (err < 0)
		return err;
	if (!kept)
		return add_in_steps(e, s, kinds, t, strings);
	kept->section = s;
	kept->strings = strings;
	kept->n_strings = t->strings.n - strings - 1;
	return add_entries(e, kinds, &kept->symbols, t, strings);
}

int elf_add_symbols(const struct elf *e, struct symbol_table *t, struct elf_dynamic *dynamic)
{
	const struct elf_section *symtab = elf_find_type(e, ELF_SHT_SYMTAB);
	const struct elf_section *dynsym = elf_find_type(e, ELF_SHT_DYNSYM);
	scoped(freep) uint8_t *kinds = NULL;
	int full = section_kinds(e, &kinds), more;

	if (full == 0)
		full = reserve(e, symtab, dynsym, t);
	if (full == 0)
		full = add_table(e, symtab, kinds, t, NULL);
	if (full == -ENOMEM)
		return full;
	if (dynamic)
		elf_dynamic_done(dynamic);
	more = add_table(e, dynsym, kinds, t, dynamic);
	if (more == -ENOMEM || (full <= 0 && more < 0))
		return more;
	return max_of(full, 0) + max_of(more, 0);
}
