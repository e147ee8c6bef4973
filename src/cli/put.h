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
	static const char digits[] = "0123456789abcdef";
	unsigned n = v ? (67u - (unsigned)__builtin_clzll(v)) / 4 : 1;

	while (width > n) {
		*at++ = ' ';
		width--;
	}
	for (unsigned i = n; i-- > 0; v >>= 4)
		at[i] = digits[v & 15];
	return at + n;
}

#endif
