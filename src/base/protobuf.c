/*
 * Protocol buffers. A key is field << 3 | wire type; type 0 is a varint, 1 has eight bytes, 2 has a
 * length, 5 has four bytes. Groups (types 3 and 4) do not exist in proto3 and are rejected.
 */
#include "base/protobuf.h"

#include <errno.h>

enum { PB_VARINT = 0, PB_FIXED64 = 1, PB_LENGTH = 2, PB_FIXED32 = 5 };

void pb_varint(struct buf *b, uint64_t v)
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
	pb_varint(b, (uint64_t)field << 3 | PB_VARINT);
	pb_varint(b, v);
}

void pb_fixed64(struct buf *b, unsigned field, uint64_t v)
{
	char bytes[8];

	for (unsigned i = 0; i < 8; i++)
		bytes[i] = (char)(v >> (8 * i));
	pb_varint(b, (uint64_t)field << 3 | PB_FIXED64);
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
	pb_varint(b, (uint64_t)field << 3 | PB_LENGTH);
	pb_varint(b, bytes.n);
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

/* ---- reading ---- */

static int take_varint(struct str *rest, uint64_t *out)
{
	uint64_t v = 0;

	for (unsigned i = 0; i < 10 && i < rest->n; i++) {
		unsigned char c = (unsigned char)rest->s[i];

		v |= (uint64_t)(c & 0x7f) << (7 * i);
		if (c & 0x80)
			continue;
		*rest = str_n(rest->s + i + 1, rest->n - i - 1);
		*out = v;
		return 0;
	}
	return -EBADMSG;
}

static int take_fixed(struct str *rest, unsigned n, uint64_t *out)
{
	if (rest->n < n)
		return -EBADMSG;
	*out = 0;
	for (unsigned i = 0; i < n; i++)
		*out |= (uint64_t)(unsigned char)rest->s[i] << (8 * i);
	*rest = str_n(rest->s + n, rest->n - n);
	return 0;
}

static int take_bytes(struct str *rest, struct str *out)
{
	uint64_t n;

	if (take_varint(rest, &n) < 0 || n > rest->n)
		return -EBADMSG;
	*out = str_n(rest->s, (size_t)n);
	*rest = str_n(rest->s + n, rest->n - (size_t)n);
	return 0;
}

int pb_next(struct str *rest, struct pb_field *out)
{
	struct pb_field f = { 0 };
	uint64_t key;
	int err;

	if (!rest->n)
		return 0;
	err = take_varint(rest, &key);
	if (err < 0 || key >> 3 == 0)
		return -EBADMSG;
	f.number = key >> 3;
	switch (key & 7) {
	case PB_VARINT:
		err = take_varint(rest, &f.value);
		break;
	case PB_FIXED64:
		err = take_fixed(rest, 8, &f.value);
		break;
	case PB_FIXED32:
		err = take_fixed(rest, 4, &f.value);
		break;
	case PB_LENGTH:
		err = take_bytes(rest, &f.bytes);
		break;
	default:
		err = -EBADMSG;
	}
	if (err < 0)
		return err;
	*out = f;
	return 1;
}
