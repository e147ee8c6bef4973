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

static inline char *put_hex(char *at, uint64_t v, unsigned width)
{
	unsigned n = v ? (67u - (unsigned)__builtin_clzll(v)) / 4 : 1;
	uint64_t low = v & 0xffffffff, high = v >> 32;
	char text[16];

	/* Eight digits at a time: each nibble in its own byte, then '0' or 'a' - 10 added. */
	for (int half = 0; half < 2; half++) {
		uint64_t x = half ? low : high;

		x = (x << 16 | x) & 0x0000ffff0000ffffull;
		x = (x << 8 | x) & 0x00ff00ff00ff00ffull;
		x = (x << 4 | x) & 0x0f0f0f0f0f0f0f0full;
		x += 0x3030303030303030ull + ((x + 0x0606060606060606ull) >> 4 & 0x0101010101010101ull) * 39;
		x = __builtin_bswap64(x);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
		x = __builtin_bswap64(x);
#endif
		memcpy(text + 8 * half, &x, 8);
	}
	if (width > n) {
		memset(at, ' ', width - n);
		at += width - n;
	}
	memcpy(at, text + 16 - n, n);
	return at + n;
}

/* As put_bytes(), in steps of 32: `s` can be read and `at` be written up to 31 bytes further. */
#define PUT_SLACK 32
static inline char *put_steps(char *at, const char *s, size_t n)
{
	for (size_t i = 0; i < n; i += PUT_SLACK)
		memcpy(at + i, s + i, PUT_SLACK);
	return at + n;
}

#endif
