/*
 * Snappy format without libsnappy: the length as a varint, then uncompressed literals of up to 64
 * KiB.
 */
#include "agent/export/snappy.h"

#include <errno.h>

#include "base/protobuf.h"

#define LITERAL_MAX 65536u
#define TAG_LITERAL_2_BYTES (61u << 2)

int snappy_block(struct str in, struct buf *out)
{
	pb_varint(out, in.n);
	for (size_t at = 0; at < in.n; at += LITERAL_MAX) {
		size_t n = min_of(in.n - at, (size_t)LITERAL_MAX);

		buf_putc(out, (char)TAG_LITERAL_2_BYTES);
		buf_putc(out, (char)(n - 1));
		buf_putc(out, (char)((n - 1) >> 8));
		buf_put(out, in.s + at, n);
	}
	return buf_failed(out) ? -ENOMEM : 0;
}
