/*
 * Fast formatting of numbers and text for outputs with millions of lines. The caller guarantees that the
 * buffer is large enough; nothing is checked here. Each function returns the end of its output.
 */
#ifndef CLI_CORE_FAST_FORMAT_H
#define CLI_CORE_FAST_FORMAT_H

#include "base/defs.h"

#include <string.h>

static inline char *format_bytes(char *at, const char *s, size_t n)
{
	memcpy(at, s, n);
	return at + n;
}

static inline char *format_blanks(char *at, size_t n)
{
	memset(at, ' ', n);
	return at + n;
}

/* Writes the eight bytes of `x`, lowest byte first. */
static inline void format_word(char *at, uint64_t x)
{
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	x = __builtin_bswap64(x);
#endif
	memcpy(at, &x, sizeof(x));
}

/* Writes decimal digits, right-aligned in `width`. The caller has already written the fill characters. */
static inline char *format_dec_long(char *at, uint64_t v, unsigned width)
{
	unsigned n = 1;

	for (uint64_t more = v; more >= 10; more /= 10)
		n++;
	at += width > n ? width - n : 0;
	for (unsigned i = n; i--; v /= 10)
		at[i] = (char)('0' + v % 10);
	return at + n;
}

/* Converts a number below 10^8 to eight decimal digits: a byte per digit with value 0 to 9, the first
 * digit in the lowest byte. */
static inline uint64_t format_digits8(uint64_t v)
{
	uint64_t x, y;

	x = v / 10000 | (v % 10000) << 32;			/* two halves of four digits */
	y = (x * 5243 >> 19) & 0x0000007f0000007full;		/* / 100 */
	x = y | (x - 100 * y) << 16;				/* four pairs */
	y = (x * 103 >> 10) & 0x000f000f000f000full;		/* / 10 */
	return y | (x - 10 * y) << 8;
}

/* Writes a decimal number, right-aligned in `width` (at most 16) and padded with `fill`. May overwrite
 * FORMAT_MORE bytes after its end. */
#define FORMAT_MORE 16
static inline char *format_dec(char *at, uint64_t v, unsigned width, char fill)
{
	uint64_t low, fills = (unsigned char)fill * 0x0101010101010101ull;
	unsigned zeros;

	format_word(at, fills);
	format_word(at + 8, fills);
	if (v >= 100000000) {
		at = format_dec_long(at, v / 100000000, width > 8 ? width - 8 : 0);
		v %= 100000000;
		zeros = 0;
		low = format_digits8(v);
	} else {
		low = format_digits8(v);
		zeros = (unsigned)__builtin_ctzll(low | 1ull << 56) / 8;
		at += width > 8 - zeros ? width - (8 - zeros) : 0;
	}
	format_word(at, (low | 0x3030303030303030ull) >> 8 * zeros);
	return at + 8 - zeros;
}

/* Writes the six decimal digits of a number below 10^6, and two more bytes after them. */
static inline char *format_dec6(char *at, uint64_t v)
{
	format_word(at, (format_digits8(v) | 0x3030303030303030ull) >> 16);
	return at + 6;
}

/* Writes the 16 hexadecimal digits of a number, each XORed with a byte of `flip`. */
static inline void format_digits16(char *at, uint64_t v, const char *flip)
{
	typedef uint8_t bytes8 __attribute__((vector_size(8)));
	typedef uint16_t pairs8 __attribute__((vector_size(16)));
	typedef int8_t bytes16 __attribute__((vector_size(16)));
	bytes16 digits, turned;
	bytes8 bytes;
	pairs8 pairs;

	/* Puts the most significant byte first, then splits each byte into its high and its low digit. */
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	v = __builtin_bswap64(v);
#endif
	memcpy(&bytes, &v, sizeof(bytes));
	pairs = __builtin_convertvector(bytes, pairs8);
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	pairs = (pairs >> 4 | pairs << 8) & 0x0f0f;
#else
	pairs = (pairs << 4 | pairs) & 0x0f0f;
#endif
	digits = (bytes16)pairs + '0';
	digits += (digits > '9') & ('a' - '9' - 1);
	memcpy(&turned, flip, sizeof(turned));
	digits ^= turned;
	memcpy(at, &digits, sizeof(digits));
}

/* Masks for format_digits16(): '0' ^ 16 is ' ', so format_flips + 16 - n turns n leading zeros into
 * blanks. */
static const char format_flips[32] = {
	16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16,
};

static inline char *format_hex(char *at, uint64_t v, unsigned width)
{
	unsigned n = v ? (67u - (unsigned)__builtin_clzll(v)) / 4 : 1;
	char text[16];

	format_digits16(text, v, format_flips + 16);
	if (width > n) {
		memset(at, ' ', width - n);
		at += width - n;
	}
	memcpy(at, text + 16 - n, n);
	return at + n;
}

/* Writes an address in hexadecimal, right-aligned in 16 columns; as format_hex(), but without a branch. */
static inline char *format_address16(char *at, uint64_t v)
{
	format_digits16(at, v, format_flips + 16 - (unsigned)__builtin_clzll(v | 1) / 4);
	return at + 16;
}

/* As format_bytes(), but always copies FORMAT_SLACK bytes first, which avoids a branch on the length of
 * short text. At least FORMAT_SLACK bytes must be readable at `s` and writable at `at`. */
#define FORMAT_SLACK 64
static inline char *format_bytes_slack(char *at, const char *s, size_t n)
{
	memcpy(at, s, FORMAT_SLACK);
	if (n > FORMAT_SLACK)
		memcpy(at + FORMAT_SLACK, s + FORMAT_SLACK, n - FORMAT_SLACK);
	return at + n;
}

/* Writes a hexadecimal number without padding; may overwrite up to 16 bytes from `at` on. */
static inline char *format_hex_short(char *at, uint64_t v)
{
	uint32_t x = (uint32_t)v;
	unsigned zeros;

	if (v >> 16)
		return format_hex(at, v, 0);
	zeros = (unsigned)__builtin_clz(x | 1) / 4 - 4;		/* leading zeros of the four digits */
	/* Spreads the digits to one byte each, then adds '0' or 'a' - 10. */
	x = (x | x << 8) & 0x00ff00ff;
	x = (x | x << 4) & 0x0f0f0f0f;
	x += 0x30303030 + ((x + 0x06060606) >> 4 & 0x01010101) * 39;
	format_word(at, __builtin_bswap32(x) >> 8 * zeros);
	return at + 4 - zeros;
}

#endif
