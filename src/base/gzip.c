/*
 * A small deflate encoder (RFC 1951) with the gzip header and trailer (RFC 1952). Matches never reach
 * back beyond the current block, so only that block is buffered. It uses the fixed Huffman codes:
 *
 *	code length   literals 0-143: 8 bits, 144-255: 9; lengths 256-279: 7, 280-287: 8; distances: 5
 *	bit order     Huffman codes most significant bit first, all other numbers least significant first
 */
#include "base/gzip.h"

#include <string.h>

#define BLOCK 32768u		/* deflate's largest distance, so any match within a block can be encoded */
#define HASH_BITS 13
#define MATCH_MIN 4u
#define MATCH_MAX 258u

/* The smallest length or distance of each code; the extra bits of a code cover the gap to the next one. */
static const uint16_t length_base[] = { 3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15, 17, 19, 23, 27, 31, 35,
	43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227, 258 };
static const uint8_t length_extra[] = { 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4,
	4, 4, 4, 5, 5, 5, 5, 0 };
static const uint16_t distance_base[] = { 1, 2, 3, 4, 5, 7, 9, 13, 17, 25, 33, 49, 65, 97, 129, 193,
	257, 385, 513, 769, 1025, 1537, 2049, 3073, 4097, 6145, 8193, 12289, 16385, 24577 };

static void put_bits(struct gzip *z, uint32_t value, unsigned n)
{
	z->bits |= (uint64_t)value << z->n_bits;
	z->n_bits += n;
	while (z->n_bits >= 8) {
		buf_putc(z->out, (char)z->bits);
		z->bits >>= 8;
		z->n_bits -= 8;
	}
}

static void put_code(struct gzip *z, uint32_t code, unsigned n)
{
	uint32_t reversed = 0;

	for (unsigned i = 0; i < n; i++)
		reversed |= (code >> i & 1) << (n - 1 - i);
	put_bits(z, reversed, n);
}

static void put_symbol(struct gzip *z, unsigned symbol)
{
	if (symbol < 144)
		put_code(z, 0x30 + symbol, 8);
	else if (symbol < 256)
		put_code(z, 0x190 + symbol - 144, 9);
	else if (symbol < 280)
		put_code(z, symbol - 256, 7);
	else
		put_code(z, 0xc0 + symbol - 280, 8);
}

static void put_match(struct gzip *z, unsigned length, unsigned distance)
{
	unsigned l = 0, d = 0;

	while (l + 1 < countof(length_base) && length_base[l + 1] <= length)
		l++;
	put_symbol(z, 257 + l);
	put_bits(z, length - length_base[l], length_extra[l]);
	while (d + 1 < countof(distance_base) && distance_base[d + 1] <= distance)
		d++;
	put_code(z, d, 5);
	put_bits(z, distance - distance_base[d], d < 2 ? 0 : d / 2 - 1);
}

static uint32_t four_bytes(const uint8_t *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

static unsigned match_length(const uint8_t *a, const uint8_t *b, size_t limit)
{
	unsigned n = 0;

	while (n < limit && n < MATCH_MAX && a[n] == b[n])
		n++;
	return n;
}

static void compress_block(struct gzip *z, bool last)
{
	const uint8_t *in = (const uint8_t *)z->block.bytes;
	uint16_t head[1 << HASH_BITS] = { 0 };		/* position + 1 of the last four bytes with this hash */
	size_t n = z->block.n, i = 0;

	put_bits(z, last, 1);
	put_bits(z, 1, 2);
	while (i < n) {
		unsigned length = 0;
		size_t at = 0;

		if (i + MATCH_MIN <= n) {
			uint16_t *slot = &head[four_bytes(in + i) * 2654435761u >> (32 - HASH_BITS)];

			at = *slot;
			*slot = (uint16_t)(i + 1);
			if (at)
				length = match_length(in + at - 1, in + i, n - i);
		}
		if (length >= MATCH_MIN) {
			put_match(z, length, (unsigned)(i - (at - 1)));
			i += length;
		} else {
			put_symbol(z, in[i++]);
		}
	}
	put_symbol(z, 256);
	buf_clear(&z->block);
}

static uint32_t crc_step(uint32_t crc, const uint8_t *p, size_t n)
{
	static const uint32_t nibbles[16] = {
		0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac, 0x76dc4190, 0x6b6b51f4, 0x4db26158,
		0x5005713c, 0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c, 0x9b64c2b0, 0x86d3d2d4,
		0xa00ae278, 0xbdbdf21c };

	crc = ~crc;
	for (size_t i = 0; i < n; i++) {
		crc = nibbles[(crc ^ p[i]) & 15] ^ crc >> 4;
		crc = nibbles[(crc ^ p[i] >> 4) & 15] ^ crc >> 4;
	}
	return ~crc;
}

static void put_header_once(struct gzip *z)
{
	static const uint8_t header[10] = { 0x1f, 0x8b, 8, [9] = 255 };	/* no file name, no time */

	if (!z->begun)
		buf_put(z->out, header, sizeof(header));
	z->begun = true;
}

void gzip_put(struct gzip *z, const void *bytes, size_t n)
{
	const uint8_t *p = bytes;

	put_header_once(z);
	z->crc = crc_step(z->crc, p, n);
	z->total += (uint32_t)n;
	while (n) {
		size_t part = min_of(n, BLOCK - z->block.n);

		buf_put(&z->block, p, part);
		if (buf_failed(&z->block)) {
			z->out->bad = true;
			return;
		}
		if (z->block.n == BLOCK)
			compress_block(z, false);
		p += part;
		n -= part;
	}
}

void gzip_finish(struct gzip *z)
{
	uint32_t tail[2] = { z->crc, z->total };

	put_header_once(z);
	compress_block(z, true);
	put_bits(z, 0, (8 - z->n_bits) & 7);
	for (size_t i = 0; i < 8; i++)		/* little endian */
		buf_putc(z->out, (char)(tail[i / 4] >> (i % 4 * 8)));
	buf_done(&z->block);
}
