/*
 * Decompression of xz by liblzma, which is loaded on first use, so that other commands do not pay for it.
 */
#include "symbol/decompress.h"

#include <errno.h>
#include <lzma.h>

#include "base/shared_library.h"

#define PIECE 65536u
#define DECODER_MEMORY_MAX (256u << 20)

struct xz {
	void *library;
	lzma_stream stream;
	__typeof__(lzma_stream_decoder) *open;
	__typeof__(lzma_code) *code;
	__typeof__(lzma_end) *end;
};

static void xz_done(struct xz *z)
{
	if (z->end)
		z->end(&z->stream);
	if (z->library)
		shared_library_close(z->library);
}

static int xz_load(struct xz *z)
{
	z->library = shared_library_open("liblzma.so.5");
	if (!z->library)
		return -EOPNOTSUPP;
	z->open = (__typeof__(lzma_stream_decoder) *)shared_library_find(z->library, "lzma_stream_decoder");
	z->code = (__typeof__(lzma_code) *)shared_library_find(z->library, "lzma_code");
	z->end = (__typeof__(lzma_end) *)shared_library_find(z->library, "lzma_end");
	if (!z->open || !z->code || !z->end)
		return -EOPNOTSUPP;
	return z->open(&z->stream, DECODER_MEMORY_MAX, LZMA_CONCATENATED) == LZMA_OK ? 0 : -ENOMEM;
}

int decompress_xz(const void *bytes, size_t n, size_t limit, struct buf *out)
{
	scoped(xz_done) struct xz z = { .stream = LZMA_STREAM_INIT };
	size_t start = out->n;
	int err = xz_load(&z);

	if (err)
		return err;
	z.stream.next_in = bytes;
	z.stream.avail_in = n;
	for (;;) {
		uint8_t *at = (uint8_t *)buf_grow(out, PIECE);
		lzma_ret got;

		if (!at)
			return -ENOMEM;
		z.stream.next_out = at;
		z.stream.avail_out = PIECE;
		got = z.code(&z.stream, LZMA_FINISH);
		out->n += PIECE - z.stream.avail_out;
		if (out->n - start > limit || got == LZMA_MEMLIMIT_ERROR)
			return -EFBIG;
		if (got == LZMA_STREAM_END)
			return 0;
		if (got != LZMA_OK)
			return got == LZMA_MEM_ERROR ? -ENOMEM : -EBADMSG;
	}
}
