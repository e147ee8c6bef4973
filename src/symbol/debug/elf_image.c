/*
 * Layout: ELF header, sections, section names, section headers.
 */
#include "symbol/debug/elf_image.h"

#include <errno.h>

#define SHT_PROGBITS 1u
#define HEADER_BYTES 64u		/* of the wide class; the other's is smaller */
#define ALIGNMENT 16u

void elf_put_uint(uint8_t *to, bool swap, uint64_t value, unsigned n)
{
	bool big = elf_is_big_endian(swap);

	for (unsigned i = 0; i < n; i++)
		to[i] = (uint8_t)(value >> 8 * (big ? n - 1 - i : i));
}

static void put_number(const struct elf_image *m, struct buf *out, uint64_t value, unsigned n)
{
	uint8_t bytes[8];

	elf_put_uint(bytes, m->like->swap, value, n);
	buf_put(out, bytes, n);
}

/* An address, offset or size: 8 bytes, or 4 in a 32-bit file. */
static void put_word(const struct elf_image *m, struct buf *out, uint64_t value)
{
	put_number(m, out, value, m->like->wide ? 8 : 4);
}

static void align_image(struct elf_image *m)
{
	while (!buf_failed(m->out) && (m->out->n - m->start) % ALIGNMENT)
		buf_putc(m->out, '\0');
}

static uint32_t put_name(struct elf_image *m, const char *name)
{
	uint32_t at = (uint32_t)m->names.n;

	buf_put(&m->names, name, strlen(name) + 1);
	return at;
}

static void put_header(struct elf_image *m, const struct elf_section *s)
{
	put_number(m, &m->headers, s->name, 4);
	put_number(m, &m->headers, s->type, 4);
	put_word(m, &m->headers, s->flags);
	put_word(m, &m->headers, s->addr);
	put_word(m, &m->headers, s->offset);
	put_word(m, &m->headers, s->size);
	put_number(m, &m->headers, 0, 4);	/* link */
	put_number(m, &m->headers, 0, 4);	/* info */
	put_word(m, &m->headers, 1);		/* alignment */
	put_word(m, &m->headers, 0);		/* size of entries */
	m->n_sections++;
}

void elf_image_begin(struct elf_image *m, const struct elf *like, struct buf *out)
{
	const struct elf_section none = { 0 };

	*m = (struct elf_image){ .like = like, .out = out, .start = out->n };
	put_name(m, "");
	put_header(m, &none);
	buf_put(out, (const char[HEADER_BYTES]){ 0 }, HEADER_BYTES);
}

void elf_image_start_section(struct elf_image *m)
{
	align_image(m);
	m->section_start = m->out->n;
}

void elf_image_end_section(struct elf_image *m, const char *name, uint64_t addr, uint64_t flags)
{
	struct elf_section s = { .type = SHT_PROGBITS, .addr = addr, .flags = flags };

	s.offset = m->section_start - m->start;
	s.size = m->out->n - m->section_start;
	s.name = put_name(m, name);
	put_header(m, &s);
}

/* The header refers to the section headers, which come last, so it is written last, over the space for it. */
static void write_elf_header(struct elf_image *m, uint64_t headers_at)
{
	bool wide = m->like->wide;
	struct buf h = { 0 };

	buf_put(&h, "\177ELF", 4);
	buf_putc(&h, wide ? 2 : 1);
	buf_putc(&h, elf_is_big_endian(m->like->swap) ? 2 : 1);
	buf_putc(&h, 1);
	buf_put(&h, "\0\0\0\0\0\0\0\0", 9);
	put_number(m, &h, m->like->type, 2);
	put_number(m, &h, m->like->machine, 2);
	put_number(m, &h, 1, 4);
	put_word(m, &h, m->like->entry);
	put_word(m, &h, 0);			/* program headers */
	put_word(m, &h, headers_at);
	put_number(m, &h, 0, 4);
	put_number(m, &h, wide ? 64 : 52, 2);
	put_number(m, &h, wide ? 56 : 32, 2);
	put_number(m, &h, 0, 2);
	put_number(m, &h, wide ? 64 : 40, 2);
	put_number(m, &h, m->n_sections, 2);
	put_number(m, &h, m->n_sections - 1, 2);	/* the section of names is the last */
	m->out->bad |= buf_failed(&h);
	if (!buf_failed(&h))
		memcpy(m->out->bytes + m->start, h.bytes, h.n);
	buf_done(&h);
}

int elf_image_finish(struct elf_image *m)
{
	struct elf_section names = { .type = ELF_SHT_STRTAB, .name = put_name(m, ".shstrtab") };
	uint64_t headers_at;

	elf_image_start_section(m);
	names.offset = m->section_start - m->start;
	names.size = m->names.n;
	buf_put(m->out, m->names.bytes, m->names.n);
	put_header(m, &names);
	align_image(m);
	headers_at = m->out->n - m->start;
	buf_put(m->out, m->headers.bytes, m->headers.n);
	if (buf_failed(m->out) || buf_failed(&m->names) || buf_failed(&m->headers))
		return -ENOMEM;
	write_elf_header(m, headers_at);
	return buf_failed(m->out) ? -ENOMEM : 0;
}

void elf_image_done(struct elf_image *m)
{
	buf_done(&m->names);
	buf_done(&m->headers);
}
