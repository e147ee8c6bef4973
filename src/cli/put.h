/*
 * Numbers and text straight into memory that is known to be large enough; each returns the place
 * behind what it wrote. For lines that are written by the million.
 */
#ifndef CLI_PUT_H
#define CLI_PUT_H

#include "base/defs.h"

#include <string.h>

#define PUT_DIGITS 20		/* of the longest 64-bit number */

static inline char *put_bytes(char *at, const char *s, size_t n)
{
	memcpy(at, s, n);
	return at + n;
}

static inline char *put_blanks(char *at, size_t n)
{
	memset(at, ' ', n);
	return at + n;
}

/* Decimal, right-aligned in `width`, filled with `fill`. */
static inline char *put_dec(char *at, uint64_t v, unsigned width, char fill)
{
	char text[PUT_DIGITS];
	unsigned n = 0;

	do {
		text[PUT_DIGITS - ++n] = (char)('0' + v % 10);
		v /= 10;
	} while (v);
	while (width > n) {
		*at++ = fill;
		width--;
	}
	return put_bytes(at, text + PUT_DIGITS - n, n);
}

/* Eight hexadecimal digits as eight characters, the first in the lowest byte. */
static inline uint64_t put_hex8(uint64_t x)
{
	/* Each nibble in its own byte, then '0' or 'a' - 10 added. */
	x = (x << 16 | x) & 0x0000ffff0000ffffull;
	x = (x << 8 | x) & 0x00ff00ff00ff00ffull;
	x = (x << 4 | x) & 0x0f0f0f0f0f0f0f0full;
	x += 0x3030303030303030ull + ((x + 0x0606060606060606ull) >> 4 & 0x0101010101010101ull) * 39;
	return __builtin_bswap64(x);
}

/* Eight characters, of which the first is the lowest byte. */
static inline void put_word(char *at, uint64_t x)
{
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	x = __builtin_bswap64(x);
#endif
	memcpy(at, &x, sizeof(x));
}

static inline char *put_hex(char *at, uint64_t v, unsigned width)
{
	unsigned n = v ? (67u - (unsigned)__builtin_clzll(v)) / 4 : 1;
	char text[16];

	put_word(text, put_hex8(v >> 32));
	put_word(text + 8, put_hex8(v & 0xffffffff));
	if (width > n) {
		memset(at, ' ', width - n);
		at += width - n;
	}
	memcpy(at, text + 16 - n, n);
	return at + n;
}

/* An address, right-aligned in 16 columns: put_hex() without a branch. */
static inline char *put_address16(char *at, uint64_t v)
{
	unsigned blanks = (unsigned)__builtin_clzll(v | 1) / 4;	/* of 16: leading zeros */
	uint64_t half[2] = { v >> 32, v & 0xffffffff };

	for (unsigned i = 0; i < 2; i++) {
		unsigned n = blanks < 8 * i ? 0 : min_of(blanks - 8 * i, 8u);
		uint64_t x = put_hex8(half[i]);

		/* '0' and ' ' differ in one bit. */
		x ^= n < 8 ? 0x1010101010101010ull & ~(~0ull << 8 * n) : 0x1010101010101010ull;
		put_word(at + 8 * i, x);
	}
	return at + 16;
}

/* As put_bytes(), but mostly without asking how long it is: `s` can be read and `at` be written
 * PUT_SLACK bytes further. */
#define PUT_SLACK 96
static inline char *put_roomy(char *at, const char *s, size_t n)
{
	memcpy(at, s, PUT_SLACK);
	if (n > PUT_SLACK)
		memcpy(at + PUT_SLACK, s + PUT_SLACK, n - PUT_SLACK);
	return at + n;
}

#endif
