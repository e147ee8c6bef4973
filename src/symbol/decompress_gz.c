/*
 * Decompression of gzip by zlib, which is loaded on first use.
 */
#include "symbol/decompress.h"

#include <errno.h>
#include <zlib.h>

#include "base/shared_library.h"

#define PIECE 65536u
#define GZIP_WINDOW (15 + 16)		/* the largest window; 16 selects the gzip header */

struct gz {
	void *library;
	z_stream stream;
	bool opened;
	__typeof__(inflateInit2_) *open;
	__typeof__(inflate) *code;
	__typeof__(inflateEnd) *end;
};

static void gz_done(struct gz *z)
{
	if (z->opened)
		z->end(&z->stream);
	if (z->library)
		shared_library_close(z->library);
}

static int gz_load(struct gz *z)
{
	z->library = shared_library_open("libz.so.1");
	if (!z->library)
		return -EOPNOTSUPP;
	z->open = (__typeof__(inflateInit2_) *)shared_library_find(z->library, "inflateInit2_");
	z->code = (__typeof__(inflate) *)shared_library_find(z->library, "inflate");
	z->end = (__typeof__(inflateEnd) *)shared_library_find(z->library, "inflateEnd");
	if (!z->open || !z->code || !z->end)
		return -EOPNOTSUPP;
	z->opened = z->open(&z->stream, GZIP_WINDOW, ZLIB_VERSION, (int)sizeof(z->stream)) == Z_OK;
	return z->opened ? 0 : -ENOMEM;
}

int decompress_gz(const void *bytes, size_t n, size_t limit, struct buf *out)
{
	scoped(gz_done) struct gz z = { 0 };
	size_t start = out->n;
	int err = gz_load(&z);

	if (err)
		return err;
	if (n > UINT32_MAX)
		return -EFBIG;
	z.stream.next_in = (Bytef *)(uintptr_t)bytes;	/* zlib's type has no const */
	z.stream.avail_in = (uInt)n;
	for (;;) {
		char *at = buf_grow(out, PIECE);
		int got;

		if (!at)
			return -ENOMEM;
		z.stream.next_out = (Bytef *)at;
		z.stream.avail_out = PIECE;
		got = z.code(&z.stream, Z_NO_FLUSH);
		out->n += PIECE - z.stream.avail_out;
		if (out->n - start > limit)
			return -EFBIG;
		if (got == Z_STREAM_END)
			return 0;
		if (got != Z_OK)
			return got == Z_MEM_ERROR ? -ENOMEM : -EBADMSG;
	}
}
