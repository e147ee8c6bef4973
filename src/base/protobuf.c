/*
 * The writing half of protocol buffers. A key is field << 3 | type; 0 is a varint, 1 has eight
 * bytes, 2 has a length.
 */
#include "base/protobuf.h"

enum { PB_VARINT = 0, PB_FIXED64 = 1, PB_LENGTH = 2 };

void pb_raw(struct buf *b, uint64_t v)
{
	char bytes[10];
	size_t n = 0;

	while (v > 0x7f) {
		bytes[n++] = (char)(v | 0x80);
		v >>= 7;
	}
	bytes[n++] = (char)v;
	buf_put(b, bytes, n);
}

void pb_u64(struct buf *b, unsigned field, uint64_t v)
{
	if (!v)
		return;
	pb_raw(b, (uint64_t)field << 3 | PB_VARINT);
	pb_raw(b, v);
}

void pb_fixed64(struct buf *b, unsigned field, uint64_t v)
{
	char bytes[8];

	for (unsigned i = 0; i < 8; i++)
		bytes[i] = (char)(v >> (8 * i));
	pb_raw(b, (uint64_t)field << 3 | PB_FIXED64);
	buf_put(b, bytes, sizeof(bytes));
}

void pb_double(struct buf *b, unsigned field, double v)
{
	uint64_t bits;

	memcpy(&bits, &v, sizeof(bits));
	pb_fixed64(b, field, bits);
}

void pb_element(struct buf *b, unsigned field, struct str bytes)
{
	pb_raw(b, (uint64_t)field << 3 | PB_LENGTH);
	pb_raw(b, bytes.n);
	buf_str(b, bytes);
}

void pb_bytes(struct buf *b, unsigned field, struct str bytes)
{
	if (bytes.n)
		pb_element(b, field, bytes);
}

void pb_message(struct buf *b, unsigned field, const struct buf *m)
{
	pb_element(b, field, buf_view(m));
	b->bad = b->bad || buf_failed(m);
}
