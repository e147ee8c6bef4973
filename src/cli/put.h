/*
 * Numbers and text straight into memory that is known to be large enough; each returns the place
 * behind what it wrote. For lines that are written by the million.
 */
#ifndef CLI_PUT_H
#define CLI_PUT_H

#include "base/defs.h"

#include <string.h>

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

/* Eight characters, of which the first is the lowest byte. */
static inline void put_word(char *at, uint64_t x)
{
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	x = __builtin_bswap64(x);
#endif
	memcpy(at, &x, sizeof(x));
}

/* Decimal digits behind what fills up to `width`, which is there already. */
static inline char *put_dec_long(char *at, uint64_t v, unsigned width)
{
	unsigned n = 1;

	for (uint64_t more = v; more >= 10; more /= 10)
		n++;
	at += width > n ? width - n : 0;
	for (unsigned i = n; i--; v /= 10)
		at[i] = (char)('0' + v % 10);
	return at + n;
}

/* The eight decimal digits of a number below 10^8 as numbers, the first in the lowest byte. */
static inline uint64_t put_digits8(uint64_t v)
{
	uint64_t x, y;

	x = v / 10000 | (v % 10000) << 32;			/* two of four digits */
	y = (x * 5243 >> 19) & 0x0000007f0000007full;		/* / 100 */
	x = y | (x - 100 * y) << 16;				/* four of two */
	y = (x * 103 >> 10) & 0x000f000f000f000full;		/* / 10 */
	return y | (x - 10 * y) << 8;
}

/* Decimal, right-aligned in `width` of at most 16, filled with `fill`. PUT_MORE bytes further may
 * be written. */
#define PUT_MORE 16
static inline char *put_dec(char *at, uint64_t v, unsigned width, char fill)
{
	uint64_t low, fills = (unsigned char)fill * 0x0101010101010101ull;
	unsigned zeros;

	put_word(at, fills);
	put_word(at + 8, fills);
	if (v >= 100000000) {
		at = put_dec_long(at, v / 100000000, width > 8 ? width - 8 : 0);
		v %= 100000000;
		zeros = 0;
		low = put_digits8(v);
	} else {
		low = put_digits8(v);
		zeros = (unsigned)__builtin_ctzll(low | 1ull << 56) / 8;
		at += width > 8 - zeros ? width - (8 - zeros) : 0;
	}
	put_word(at, (low | 0x3030303030303030ull) >> 8 * zeros);
	return at + 8 - zeros;
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
#define PUT_SLACK 48
static inline char *put_roomy(char *at, const char *s, size_t n)
{
	memcpy(at, s, PUT_SLACK);
	if (n > PUT_SLACK)
		memcpy(at + PUT_SLACK, s + PUT_SLACK, n - PUT_SLACK);
	return at + n;
}

/* Hexadecimal, as short as it is; up to 16 bytes may be written. */
static inline char *put_hex_short(char *at, uint64_t v)
{
	unsigned zeros;

	if (v >> 32)
		return put_hex(at, v, 0);
	zeros = (unsigned)__builtin_clz((uint32_t)v | 1) / 4;
	put_word(at, put_hex8(v) >> 8 * zeros);
	return at + 8 - zeros;
}

#endif
