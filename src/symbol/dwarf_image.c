/*
 * Layout: ELF header, sections, section names, section headers. The image has the class and byte order of the file,
 * because libdw reads it as it would read the file.
 */
#include "symbol/dwarf_image.h"

#include "symbol/elf_section_data.h"

#include <errno.h>
#include <stdio.h>

#define SHT_PROGBITS 1u
#define SECTIONS_MAX 256u
#define ALIGNMENT 16u

struct image {
	const struct elf *from;
	struct buf *out, names, headers;
	size_t n_sections;
	enum dwarf_image_use use;
};

static void image_done(struct image *m)
{
	buf_done(&m->names);
	buf_done(&m->headers);
}

static void put_number(const struct image *m, struct buf *out, uint64_t value, unsigned n)
{
	bool host_big = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
	bool big = host_big != m->from->swap;

	for (unsigned i = 0; i < n; i++)
		buf_putc(out, (char)(value >> 8 * (big ? n - 1 - i : i)));
}

/* An address, offset or size: 8 bytes, or 4 in a 32-bit file. */
static void put_word(const struct image *m, struct buf *out, uint64_t value)
{
	put_number(m, out, value, m->from->wide ? 8 : 4);
}

static void align_image(struct buf *out)
{
	while (!buf_failed(out) && out->n % ALIGNMENT)
		buf_putc(out, '\0');
}

static void put_header(struct image *m, const struct elf_section *s, uint64_t offset, uint64_t size)
{
	put_number(m, &m->headers, s->name, 4);
	put_number(m, &m->headers, s->type, 4);
	put_word(m, &m->headers, s->flags);
	put_word(m, &m->headers, s->addr);
	put_word(m, &m->headers, offset);
	put_word(m, &m->headers, size);
	put_number(m, &m->headers, 0, 4);	/* link */
	put_number(m, &m->headers, 0, 4);	/* info */
	put_word(m, &m->headers, 1);		/* alignment */
	put_word(m, &m->headers, 0);		/* size of entries */
	m->n_sections++;
}

static uint32_t put_name(struct image *m, const char *name)
{
	uint32_t at = (uint32_t)m->names.n;

	buf_put(&m->names, name, strlen(name) + 1);
	return at;
}

static bool is_for_functions(const char *name)
{
	static const char *const others[] = { ".debug_loc", ".debug_macro", ".debug_macinfo", ".debug_pub", ".debug_gnu_pub",
					      ".debug_aranges", ".debug_frame", ".eh_frame", ".debug_names" };

	for (size_t i = 0; i < countof(others); i++)
		if (str_starts(str_of(name), others[i]))
			return false;
	return true;
}

static bool is_wanted(enum dwarf_image_use use, const struct elf *e, const struct elf_section *s)
{
	const char *name = elf_section_name(e, s);

	if (s->type == ELF_SHT_NOBITS || !s->size || (use == DWARF_IMAGE_FUNCTIONS && !is_for_functions(name)))
		return false;
	return strncmp(name, ".debug_", 7) == 0 || strncmp(name, ".zdebug_", 8) == 0 ||
	       strncmp(name, ".eh_frame", 9) == 0;
}

static int add_section(struct image *m, const struct elf_section *s)
{
	const char *name = elf_section_name(m->from, s);
	struct elf_section header = { .type = SHT_PROGBITS, .addr = s->addr, .flags = s->flags & ELF_SHF_ALLOC };
	char plain[64];			/* ".debug_info" for ".zdebug_info" */
	size_t start;
	int err;

	err = name[1] == 'z' ? snprintf(plain, sizeof(plain), ".%s", name + 2) : snprintf(plain, sizeof(plain), "%s", name);
	if (err < 0 || (size_t)err >= sizeof(plain))
		return 0;
	align_image(m->out);
	start = m->out->n;
	err = elf_read_section_data(m->from, s, m->out);
	if (err == -ENOMEM)
		return err;
	if (err < 0)
		m->out->n = start;	/* a damaged section is left out */
	if (m->out->n > DWARF_IMAGE_MAX)
		return -EFBIG;
	if (err < 0)
		return 0;
	header.name = put_name(m, plain);
	put_header(m, &header, start, m->out->n - start);
	return buf_failed(m->out) ? -ENOMEM : 0;
}

static int add_sections(struct image *m)
{
	int err = 0;

	for (size_t i = 0; i < m->from->n_sections && m->n_sections < SECTIONS_MAX && err == 0; i++) {
		const struct elf_section *s = &m->from->sections[i];

		if (is_wanted(m->use, m->from, s))
			err = add_section(m, s);
	}
	return err;
}

/* The header refers to the section headers, which come last, so it is written last, over the space for it. */
static void write_elf_header(struct image *m, size_t start, uint64_t headers_at)
{
	bool wide = m->from->wide, host_big = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
	struct buf h = { 0 };

	buf_put(&h, "\177ELF", 4);
	buf_putc(&h, wide ? 2 : 1);
	buf_putc(&h, host_big != m->from->swap ? 2 : 1);
	buf_putc(&h, 1);
	buf_put(&h, "\0\0\0\0\0\0\0\0", 9);
	put_number(m, &h, m->from->type, 2);
	put_number(m, &h, m->from->machine, 2);
	put_number(m, &h, 1, 4);
	put_word(m, &h, m->from->entry);
	put_word(m, &h, 0);			/* program headers */
	put_word(m, &h, headers_at);
	put_number(m, &h, 0, 4);
	put_number(m, &h, wide ? 64 : 52, 2);
	put_number(m, &h, wide ? 56 : 32, 2);
	put_number(m, &h, 0, 2);
	put_number(m, &h, wide ? 64 : 40, 2);
	put_number(m, &h, m->n_sections, 2);
	put_number(m, &h, m->n_sections - 1, 2);	/* the section of names is the last */
	if (!buf_failed(&h))
		memcpy(m->out->bytes + start, h.bytes, h.n);
	buf_done(&h);
}

static int make(struct image *m)
{
	const struct elf_section none = { 0 };
	struct elf_section names = { .type = ELF_SHT_STRTAB };
	size_t start = m->out->n, names_at, headers_at;
	int err;

	put_name(m, "");
	put_header(m, &none, 0, 0);
	buf_put(m->out, (const char[64]){ 0 }, 64);
	err = add_sections(m);
	if (err < 0)
		return err;
	names.name = put_name(m, ".shstrtab");
	names_at = m->out->n;
	buf_put(m->out, m->names.bytes, m->names.n);
	put_header(m, &names, names_at - start, m->names.n);
	align_image(m->out);
	headers_at = m->out->n;
	buf_put(m->out, m->headers.bytes, m->headers.n);
	if (buf_failed(m->out) || buf_failed(&m->names) || buf_failed(&m->headers))
		return -ENOMEM;
	write_elf_header(m, start, headers_at - start);
	return 0;
}

int dwarf_image_make(const struct elf *e, enum dwarf_image_use use, struct buf *out)
{
	scoped(image_done) struct image m = { .from = e, .out = out, .use = use };

	return elf_find_debug(e, ".debug_info") || elf_find_debug(e, ".debug_info.dwo") ? make(&m) : -ENODATA;
}

uint64_t dwarf_image_size(const struct elf *e, enum dwarf_image_use use)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < e->n_sections; i++)
		if (is_wanted(use, e, &e->sections[i]))
			sum += min_of(elf_section_data_size(e, &e->sections[i]), DWARF_IMAGE_MAX);
	return sum;
}
