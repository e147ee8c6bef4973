/*
 * libdeflate wants the whole output buffer at once. Its pages are touched as bytes are produced.
 */
#include "symbol/inflate.h"

#include <errno.h>
#include <libdeflate.h>

#define MOST_TIMES 1032u		/* what a byte of deflate data can become */

int inflate_bytes(const uint8_t *in, size_t n, uint64_t size, struct buf *out)
{
	struct libdeflate_decompressor *d;
	enum libdeflate_result result;
	char *at;

	if (size / MOST_TIMES > n)
		return -EBADMSG;
	at = buf_grow(out, (size_t)size);
	d = at ? libdeflate_alloc_decompressor() : NULL;
	if (!d)
		return -ENOMEM;
	result = libdeflate_zlib_decompress(d, in, n, at, (size_t)size, NULL);
	libdeflate_free_decompressor(d);
	if (result != LIBDEFLATE_SUCCESS)
		return -EBADMSG;
	out->n += (size_t)size;
	out->bytes[out->n] = '\0';
	return 0;
}
