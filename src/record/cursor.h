/*
 * A bounded cursor over bytes of the wire format, with a sticky failure: read field after field
 * in wire order and check `bad` once at the end. The cursor swaps the byte order where needed.
 */
#ifndef RECORD_CURSOR_H
#define RECORD_CURSOR_H

#include "base/defs.h"

#include <string.h>

/* Loads from any address: records and payloads in files need not be aligned. memcpy() of a fixed
 * size compiles to one instruction. */
static inline uint16_t load_u16(const void *at, bool swap)
{
	uint16_t v;

	memcpy(&v, at, sizeof(v));
	return swap ? __builtin_bswap16(v) : v;
}

static inline uint32_t load_u32(const void *at, bool swap)
{
	uint32_t v;

	memcpy(&v, at, sizeof(v));
	return swap ? __builtin_bswap32(v) : v;
}

static inline uint64_t load_u64(const void *at, bool swap)
{
	uint64_t v;

	memcpy(&v, at, sizeof(v));
	return swap ? __builtin_bswap64(v) : v;
}

struct cursor {
	const uint8_t *at, *end;
	bool swap, bad;
};

static inline struct cursor cursor_over(const void *bytes, size_t n, bool swap)
{
	const uint8_t *at = bytes;

	return (struct cursor){ .at = at, .end = n ? at + n : at, .swap = swap };
}

/* The next `n` bytes in place; NULL, and `bad` set, if fewer are left. */
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

static inline uint64_t cursor_u64(struct cursor *c)
{
	const void *p = cursor_bytes(c, sizeof(uint64_t));

	return p ? load_u64(p, c->swap) : 0;
}

static inline uint32_t cursor_u32(struct cursor *c)
{
	const void *p = cursor_bytes(c, sizeof(uint32_t));

	return p ? load_u32(p, c->swap) : 0;
}

static inline uint16_t cursor_u16(struct cursor *c)
{
	const void *p = cursor_bytes(c, sizeof(uint16_t));

	return p ? load_u16(p, c->swap) : 0;
}

/* The next `n` 64-bit words in place; NULL, and `bad` set, if fewer are left. */
static inline const void *cursor_u64s(struct cursor *c, uint64_t n)
{
	if (n > SIZE_MAX / sizeof(uint64_t)) {
		c->bad = true;
		return NULL;
	}
	return cursor_bytes(c, n * sizeof(uint64_t));
}

#endif
