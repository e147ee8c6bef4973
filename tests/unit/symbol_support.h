/*
 * ELF files built in memory, of either class and byte order, for the tests of src/symbol.
 * One PT_LOAD maps file offset 0 to 0x400000; symbols are in .text unless they say otherwise.
 */
#ifndef TEST_SYMBOL_SUPPORT_H
#define TEST_SYMBOL_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/buf.h"
#include "symbol/elf.h"

#define MADE_BASE 0x400000u
#define MADE_TEXT 0x400000u

struct made_symbol {
	const char *name;
	uint64_t value, size;
	uint8_t info;			/* bind << 4 | type; 0x12: a global function */
	uint16_t section;		/* 0: .text; 0xffff: undefined */
};

struct made {
	bool narrow, big, dynamic;
	uint16_t type, machine;		/* 0: ET_DYN, x86-64 */
	const struct made_symbol *symbols;
	size_t n_symbols;
	const char *build_id;		/* 20 characters, or NULL */
	const char *debuglink;
	bool no_final_nul;		/* the string table ends within its last name */
};

static inline void made_uint(struct buf *b, const struct made *m, uint64_t v, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		buf_putc(b, (char)(v >> 8 * (m->big ? n - 1 - i : i)));
}

static inline void made_word(struct buf *b, const struct made *m, uint64_t v)
{
	made_uint(b, m, v, m->narrow ? 4 : 8);
}

static inline void made_pad(struct buf *b)
{
	while (b->n % 8)
		buf_putc(b, '\0');
}

struct made_section {
	uint32_t name, type, link;
	uint64_t flags, addr, offset, size, entsize;
};

static inline void made_section(struct buf *b, const struct made *m, const struct made_section *s)
{
	made_uint(b, m, s->name, 4);
	made_uint(b, m, s->type, 4);
	made_word(b, m, s->flags);
	made_word(b, m, s->addr);
	made_word(b, m, s->offset);
	made_word(b, m, s->size);
	made_uint(b, m, s->link, 4);
	made_uint(b, m, 0, 4);
	made_word(b, m, 1);
	made_word(b, m, s->entsize);
}

static inline void made_one_symbol(struct buf *b, const struct made *m, uint32_t name,
				   const struct made_symbol *s)
{
	uint16_t section = s->section == 0xffff ? 0 : s->section ? s->section : 1;

	made_uint(b, m, name, 4);
	if (m->narrow) {
		made_uint(b, m, s->value, 4);
		made_uint(b, m, s->size, 4);
	}
	made_uint(b, m, s->info, 1);
	made_uint(b, m, 0, 1);
	made_uint(b, m, section, 2);
	if (!m->narrow) {
		made_uint(b, m, s->value, 8);
		made_uint(b, m, s->size, 8);
	}
}

static inline void made_header(struct buf *b, const struct made *m, uint64_t sections)
{
	static const unsigned char ident[] = { 0x7f, 'E', 'L', 'F' };

	buf_put(b, ident, 4);
	buf_putc(b, m->narrow ? 1 : 2);
	buf_putc(b, m->big ? 2 : 1);
	buf_putc(b, 1);
	buf_pad(b, '\0', 9);
	made_uint(b, m, m->type ? m->type : ELF_ET_DYN, 2);
	made_uint(b, m, m->machine ? m->machine : ELF_EM_X86_64, 2);
	made_uint(b, m, 1, 4);
	made_word(b, m, 0);
	made_word(b, m, m->narrow ? 52 : 64);
	made_word(b, m, sections);
	made_uint(b, m, 0, 4);
	made_uint(b, m, m->narrow ? 52 : 64, 2);
	made_uint(b, m, m->narrow ? 32 : 56, 2);
	made_uint(b, m, 1, 2);
	made_uint(b, m, m->narrow ? 40 : 64, 2);
	made_uint(b, m, 7, 2);
	made_uint(b, m, 6, 2);
	/* the one segment */
	made_uint(b, m, ELF_PT_LOAD, 4);
	if (!m->narrow)
		made_uint(b, m, 5, 4);
	made_word(b, m, 0);
	made_word(b, m, MADE_BASE);
	made_word(b, m, MADE_BASE);
	made_word(b, m, 0x100000);
	made_word(b, m, 0x100000);
	if (m->narrow)
		made_uint(b, m, 5, 4);
	made_word(b, m, 0x1000);
}

static inline uint64_t made_body(struct buf *b, const struct made *m, struct made_section *s)
{
	static const char names[] = "\0.text\0.note.gnu.build-id\0.gnu_debuglink\0.strtab\0.symtab\0";
	struct buf strings = { 0 };
	struct made_symbol none = { .section = 0xffff };

	s[1] = (struct made_section){ 1, 1, 0, ELF_SHF_ALLOC, MADE_TEXT, 0, 0x100000, 0 };
	made_pad(b);
	s[2] = (struct made_section){ 7, ELF_SHT_NOTE, 0, 2, 0, b->n, 0, 0 };
	if (m->build_id) {
		made_uint(b, m, 4, 4);
		made_uint(b, m, 20, 4);
		made_uint(b, m, 3, 4);
		buf_put(b, "GNU", 4);
		buf_put(b, m->build_id, 20);
	}
	s[2].size = b->n - s[2].offset;
	s[3] = (struct made_section){ 26, 1, 0, 0, 0, b->n, 0, 0 };
	if (m->debuglink) {
		buf_put(b, m->debuglink, strlen(m->debuglink) + 1);
		made_pad(b);
	}
	s[3].size = b->n - s[3].offset;
	made_pad(b);
	s[5] = (struct made_section){ 49, m->dynamic ? ELF_SHT_DYNSYM : ELF_SHT_SYMTAB, 4, 0, 0, b->n,
				      0, m->narrow ? 16 : 24 };
	made_one_symbol(b, m, 0, &none);
	buf_putc(&strings, '\0');
	for (size_t i = 0; i < m->n_symbols; i++) {
		made_one_symbol(b, m, (uint32_t)strings.n, &m->symbols[i]);
		buf_put(&strings, m->symbols[i].name, strlen(m->symbols[i].name) + 1);
	}
	s[5].size = b->n - s[5].offset;
	s[6] = (struct made_section){ 0, ELF_SHT_STRTAB, 0, 0, 0, b->n, sizeof(names), 0 };
	buf_put(b, names, sizeof(names));
	s[4] = (struct made_section){ 41, ELF_SHT_STRTAB, 0, 0, 0, b->n,
				      strings.n - m->no_final_nul, 0 };
	buf_put(b, strings.bytes, strings.n - m->no_final_nul);
	buf_done(&strings);
	return b->n;
}

/* The whole file in *out. */
static inline void made_elf(struct buf *out, const struct made *m)
{
	struct made_section s[7] = { 0 };
	struct buf body = { 0 };
	uint64_t at;

	made_header(&body, m, 0);
	at = made_body(&body, m, s);
	buf_clear(out);
	made_header(out, m, at);
	buf_put(out, body.bytes + out->n, body.n - out->n);
	for (size_t i = 0; i < 7; i++)
		made_section(out, m, &s[i]);
	buf_done(&body);
	assert_false(buf_failed(out));
}

#endif
