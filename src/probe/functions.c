/*
 * The functions of an ELF file, from its symbol tables. Unlike symbol/elf_symbols, which names addresses, this keeps all
 * aliases, and only functions.
 */
#include "probe/object.h"

#include <errno.h>

#include "base/vec.h"
#include "symbol/elf_relocate.h"

enum { TYPE_FUNC = 2, TYPE_IFUNC = 10, BIND_LOCAL = 0 };

/* One entry of a symbol table in either class. */
struct function_entry {
	uint32_t name;
	uint8_t info;
	uint16_t section;
	uint64_t value, size;
};

static struct function_entry decode(const struct elf *e, const uint8_t *p)
{
	struct function_entry s = { .name = (uint32_t)elf_uint(e->swap, p, 4) };

	if (e->wide) {
		s.info = p[4];
		s.section = (uint16_t)elf_uint(e->swap, p + 6, 2);
		s.value = elf_uint(e->swap, p + 8, 8);
		s.size = elf_uint(e->swap, p + 16, 8);
	} else {
		s.value = elf_uint(e->swap, p + 4, 4);
		s.size = elf_uint(e->swap, p + 8, 4);
		s.info = p[12];
		s.section = (uint16_t)elf_uint(e->swap, p + 14, 2);
	}
	return s;
}

static int add_entry(struct probe_functions *f, const struct elf *e, const struct function_entry *s, const struct buf *names)
{
	unsigned type = s->info & 15;
	struct probe_function *fn;
	struct str name;
	const char *version;

	if (!s->section || s->name >= names->n || (e->type == ELF_ET_REL ? s->section >= e->n_sections : !s->value))
		return 0;
	name = str_n(names->bytes + s->name, strnlen(names->bytes + s->name, names->n - s->name));
	if (str_is(name, "_text"))
		f->start = s->value;
	if (type != TYPE_FUNC && type != TYPE_IFUNC)
		return 0;
	version = memchr(name.s, '@', name.n);
	if (version)
		name.n = (size_t)(version - name.s);
	if (!name.n || name.n > 4096)
		return 0;
	fn = vec_add(f);
	if (!fn)
		return -ENOMEM;
	fn->address = s->value + (f->sections ? f->sections[s->section] : 0);
	fn->size = s->size;
	fn->is_indirect = type == TYPE_IFUNC;
	fn->is_local = s->info >> 4 == BIND_LOCAL;
	fn->name = arena_str(&f->text, name);
	return fn->name ? 0 : -ENOMEM;
}

static int add_table(struct probe_functions *f, const struct elf *e, const struct elf_section *s)
{
	scoped(buf_done) struct buf entries = { 0 };
	scoped(buf_done) struct buf names = { 0 };
	size_t step = e->wide ? 24 : 16;
	int err;

	if (s->link >= e->n_sections)
		return -EBADMSG;
	err = elf_read_section(e, s, &entries);
	if (err >= 0)
		err = elf_read_section(e, &e->sections[s->link], &names);
	for (size_t at = 0; err >= 0 && at + step <= entries.n; at += step) {
		struct function_entry entry = decode(e, (const uint8_t *)entries.bytes + at);

		err = add_entry(f, e, &entry, &names);
	}
	return err;
}

int probe_functions_add(struct probe_functions *f, const struct elf *e)
{
	static const uint32_t types[] = { ELF_SHT_SYMTAB, ELF_SHT_DYNSYM };
	int err = e->type == ELF_ET_REL ? elf_layout(e, &f->sections) : 0;

	for (size_t i = 0; err != -ENOMEM && i < countof(types); i++) {
		const struct elf_section *s = elf_find_type(e, types[i]);

		if (s && s->type == types[i])
			err = add_table(f, e, s);
	}
	free(f->sections);
	f->sections = NULL;
	return err == -ENOMEM ? err : 0;
}

static int by_address(const void *a, const void *b)
{
	const struct probe_function *x = a, *y = b;

	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	return strcmp(x->name, y->name);
}

int probe_functions_finish(struct probe_functions *f)
{
	size_t kept = 0;

	if (!f->n)
		return 0;
	qsort(f->v, f->n, sizeof(*f->v), by_address);
	for (size_t i = 0; i < f->n; i++)
		if (!kept || by_address(&f->v[kept - 1], &f->v[i]) != 0)
			f->v[kept++] = f->v[i];
	f->n = kept;
	return 0;
}

void probe_functions_done(struct probe_functions *f)
{
	vec_done(f);
	arena_done(&f->text);
}

const struct probe_function *probe_functions_at(const struct probe_functions *f, uint64_t address)
{
	const struct probe_function *best = NULL;
	size_t low = 0, high = f->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (f->v[middle].address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	/* Aliases follow each other; a function of size 0 matches only its own address. */
	for (size_t i = low, tries = 0; i-- && tries < 64; tries++) {
		const struct probe_function *fn = &f->v[i];

		if (best && fn->address != best->address)
			break;
		if (address == fn->address || address - fn->address < fn->size)
			if (!best || (best->is_local && !fn->is_local) ||
			    (best->is_local == fn->is_local && strspn(fn->name, "_") < strspn(best->name, "_")))
				best = fn;
	}
	return best;
}
