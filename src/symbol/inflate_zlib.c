/*
 * Decompresses in steps: the output buffer doubles with each step, up to the given size.
 */
#include "symbol/inflate.h"

#include <errno.h>
#include <zlib.h>

#define STEP_MIN 65536u

static int inflate_stream(z_stream *z, uint64_t size, struct buf *out)
{
	size_t done = 0, room;

	while (done < size) {
		char *at;
		int got;

		room = (size_t)min_of(size - done, (uint64_t)max_of(done, (size_t)STEP_MIN));
		at = buf_grow(out, room);
		if (!at)
			return -ENOMEM;
		z->next_out = (Bytef *)at;
		z->avail_out = (uInt)room;
		got = inflate(z, Z_NO_FLUSH);
		out->n += room - z->avail_out;
		out->bytes[out->n] = '\0';
		done += room - z->avail_out;
		if (got == Z_MEM_ERROR)
			return -ENOMEM;
		if (got == Z_STREAM_END && done == size)
			return 0;
		if (got != Z_OK || room == z->avail_out)
			return -EBADMSG;
	}
	return 0;
}

int inflate_bytes(const uint8_t *in, size_t n, uint64_t size, struct buf *out)
{
	z_stream z = { .next_in = (Bytef *)in, .avail_in = (uInt)n };	/* zlib does not modify its input */
	int err;

	if (inflateInit(&z) != Z_OK)
		return -ENOMEM;
	err = inflate_stream(&z, size, out);
	inflateEnd(&z);
	return err;
}
