/*
 * The writer of Python's marshal format: a letter for the type, then lengths as 32-bit numbers and contents, all in little
 * endian order.
 */
#include "cli/script/marshal.h"

#include <endian.h>

#define DIGIT_BITS 15u			/* of a long integer */

static void put_u32(struct buf *out, uint32_t v)
{
	v = htole32(v);
	buf_put(out, &v, sizeof(v));
}

static void put_u16(struct buf *out, uint16_t v)
{
	v = htole16(v);
	buf_put(out, &v, sizeof(v));
}

void marshal_none(struct buf *out)
{
	buf_putc(out, 'N');
}

/* The number of digits has the sign. */
static void put_long(struct buf *out, uint64_t v, bool negative)
{
	int32_t n = 0;

	for (uint64_t rest = v; rest; rest >>= DIGIT_BITS)
		n++;
	buf_putc(out, 'l');
	put_u32(out, (uint32_t)(negative ? -n : n));
	for (; v; v >>= DIGIT_BITS)
		put_u16(out, (uint16_t)(v & ((1u << DIGIT_BITS) - 1)));
}

void marshal_u64(struct buf *out, uint64_t v)
{
	if (v > INT32_MAX) {
		put_long(out, v, false);
		return;
	}
	buf_putc(out, 'i');
	put_u32(out, (uint32_t)v);
}

void marshal_i64(struct buf *out, int64_t v)
{
	if (v >= 0)
		marshal_u64(out, (uint64_t)v);
	else
		put_long(out, -(uint64_t)v, true);
}

void marshal_bytes(struct buf *out, const void *bytes, size_t n)
{
	buf_putc(out, 's');
	put_u32(out, (uint32_t)n);
	buf_put(out, bytes, n);
}

void marshal_text(struct buf *out, struct str s)
{
	size_t at;
	uint32_t n;

	buf_putc(out, 'u');
	at = out->n;
	put_u32(out, 0);
	while (s.n) {
		size_t len = str_utf8_len(s);

		if (len)
			buf_put(out, s.s, len);
		else			/* U+DC00 + byte, as UTF-8 would write it */
			buf_put(out, (const char[]){ (char)0xed, (char)(0xb0 | ((uint8_t)*s.s >> 6)),
						     (char)(0x80 | (*s.s & 0x3f)) }, 3);
		len = len ? len : 1;
		s = str_n(s.s + len, s.n - len);
	}
	if (buf_failed(out))
		return;
	n = htole32((uint32_t)(out->n - at - sizeof(n)));
	memcpy(out->bytes + at, &n, sizeof(n));
}

void marshal_string(struct buf *out, const char *s)
{
	if (s)
		marshal_text(out, str_of(s));
	else
		marshal_none(out);
}

void marshal_tuple(struct buf *out, size_t n)
{
	buf_putc(out, '(');
	put_u32(out, (uint32_t)n);
}

void marshal_list(struct buf *out, size_t n)
{
	buf_putc(out, '[');
	put_u32(out, (uint32_t)n);
}

size_t marshal_begin_list(struct buf *out)
{
	marshal_list(out, 0);
	return out->n - sizeof(uint32_t);
}

void marshal_end_list(struct buf *out, size_t at, size_t n)
{
	uint32_t wire = htole32((uint32_t)n);

	if (!buf_failed(out))
		memcpy(out->bytes + at, &wire, sizeof(wire));
}
