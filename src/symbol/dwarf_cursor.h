/*
 * A bounded cursor over DWARF data: fixed-size integers, LEB128 numbers and strings, with a sticky
 * failure. Read field after field and check `bad` once at the end; reads past the end return zero.
 */
#ifndef SYMBOL_DWARF_CURSOR_H
#define SYMBOL_DWARF_CURSOR_H

#include "symbol/elf.h"

struct dwarf_cursor {
	const uint8_t *at, *end;
	bool swap, bad;
};

static inline size_t dwarf_left(const struct dwarf_cursor *c)
{
	return c->bad ? 0 : (size_t)(c->end - c->at);
}

static inline const uint8_t *dwarf_bytes(struct dwarf_cursor *c, uint64_t n)
{
	const uint8_t *p = c->at;

	if (n > dwarf_left(c)) {
		c->bad = true;
		return NULL;
	}
	c->at += n;
	return p;
}

static inline uint64_t dwarf_uint(struct dwarf_cursor *c, unsigned n)
{
	const uint8_t *p = dwarf_bytes(c, n);

	if (!p)
		return 0;
	return n == 1 ? *p : elf_uint(c->swap, p, n);
}

static inline uint64_t dwarf_uleb(struct dwarf_cursor *c)
{
	uint64_t v = 0;

	for (unsigned shift = 0;; shift += 7) {
		const uint8_t *p = dwarf_bytes(c, 1);

		if (!p)
			return 0;
		if (shift < 64)
			v |= (uint64_t)(*p & 0x7f) << shift;
		if (!(*p & 0x80))
			return v;
	}
}

static inline int64_t dwarf_sleb(struct dwarf_cursor *c)
{
	uint64_t v = 0;

	for (unsigned shift = 0;;) {
		const uint8_t *p = dwarf_bytes(c, 1);

		if (!p)
			return 0;
		if (shift < 64)
			v |= (uint64_t)(*p & 0x7f) << shift;
		shift += 7;
		if (*p & 0x80)
			continue;
		if (shift < 64 && (*p & 0x40))
			v |= ~0ull << shift;
		return (int64_t)v;
	}
}

/* A NUL-terminated string; borrowed, the length excludes the NUL. */
static inline struct str dwarf_text(struct dwarf_cursor *c)
{
	const uint8_t *p = c->at, *nul = dwarf_left(c) ? memchr(p, 0, dwarf_left(c)) : NULL;

	if (!nul) {
		c->bad = true;
		return str_n("", 0);
	}
	c->at = nul + 1;
	return str_n((const char *)p, (size_t)(nul - p));
}

/* The initial length of a unit; *wide is set for 64-bit DWARF, whose offsets have 8 bytes. */
static inline uint64_t dwarf_length(struct dwarf_cursor *c, bool *wide)
{
	uint64_t n = dwarf_uint(c, 4);

	*wide = n == 0xffffffffu;
	return *wide ? dwarf_uint(c, 8) : n;
}

#endif
