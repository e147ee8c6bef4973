/*
 * A bounded cursor over bytes of the wire format, with a sticky failure: read field after field
 * in wire order, ask `bad` once at the end. Byte order is the cursor's business.
 */
#ifndef RECORD_CURSOR_H
#define RECORD_CURSOR_H

#include "base/defs.h"

#include <string.h>

struct cursor {
	const uint8_t *at, *end;
	bool swap, bad;
};

static inline struct cursor cursor_over(const void *bytes, size_t n, bool swap)
{
	const uint8_t *at = bytes;

	return (struct cursor){ .at = at, .end = at + n, .swap = swap };
}

static inline const void *cursor_bytes(struct cursor *c, uint64_t n)
{
	const void *p = c->at;

	if (c->bad || n > (uint64_t)(c->end - c->at)) {
		c->bad = true;
		return NULL;
	}
	c->at += n;
	return p;
}

/* One word at `p`, which may lie at any address. */
static inline uint64_t cursor_word(const void *p, bool swap)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return swap ? __builtin_bswap64(v) : v;
}

static inline uint64_t cursor_u64(struct cursor *c)
{
	const void *p = cursor_bytes(c, sizeof(uint64_t));

	return p ? cursor_word(p, c->swap) : 0;
}

static inline uint32_t cursor_u32(struct cursor *c)
{
	const void *p = cursor_bytes(c, sizeof(uint32_t));
	uint32_t v = 0;

	if (p)
		memcpy(&v, p, sizeof(v));
	return c->swap ? __builtin_bswap32(v) : v;
}

static inline uint16_t cursor_u16(struct cursor *c)
{
	const void *p = cursor_bytes(c, sizeof(uint16_t));
	uint16_t v = 0;

	if (p)
		memcpy(&v, p, sizeof(v));
	return c->swap ? __builtin_bswap16(v) : v;
}

/* `n` words in place; NULL where fewer are left. */
static inline const void *cursor_u64s(struct cursor *c, uint64_t n)
{
	if (n > SIZE_MAX / sizeof(uint64_t)) {
		c->bad = true;
		return NULL;
	}
	return cursor_bytes(c, n * sizeof(uint64_t));
}

#endif
