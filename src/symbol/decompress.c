/*
 * Recognises the format by its magic bytes, and decompresses zstd.
 */
#include "symbol/decompress.h"

#include <errno.h>
#include <zstd.h>

#define PIECE 65536u

static int decompress_zstd(const void *bytes, size_t n, size_t limit, struct buf *out)
{
	ZSTD_DCtx *zstd = ZSTD_createDCtx();
	ZSTD_inBuffer in = { bytes, n, 0 };
	size_t start = out->n, left = 1;
	int err = zstd ? 0 : -ENOMEM;

	while (!err && left) {
		ZSTD_outBuffer room = { buf_grow(out, PIECE), PIECE, 0 };

		if (!room.dst) {
			err = -ENOMEM;
			break;
		}
		left = ZSTD_decompressStream(zstd, &room, &in);
		out->n += ZSTD_isError(left) ? 0 : room.pos;
		if (ZSTD_isError(left) || (left && in.pos == in.size && room.pos < room.size))
			err = -EBADMSG;		/* damaged or truncated */
		else if (out->n - start > limit)
			err = -EFBIG;
	}
	ZSTD_freeDCtx(zstd);
	return err;
}

static const struct {
	char magic[COMPRESSION_MAGIC_BYTES + 1];
	size_t n;
	int (*decompress)(const void *bytes, size_t n, size_t limit, struct buf *out);
} formats[] = {
	{ "\xfd" "7zXZ\0", 6, decompress_xz },
	{ "\x28\xb5\x2f\xfd", 4, decompress_zstd },
	{ "\x1f\x8b\x08", 3, decompress_gz },
};

bool is_compressed(const void *bytes, size_t n)
{
	for (size_t i = 0; i < countof(formats); i++)
		if (n >= formats[i].n && memcmp(bytes, formats[i].magic, formats[i].n) == 0)
			return true;
	return false;
}

int decompress(const void *bytes, size_t n, size_t limit, struct buf *out)
{
	int err;

	for (size_t i = 0; i < countof(formats); i++) {
		if (n < formats[i].n || memcmp(bytes, formats[i].magic, formats[i].n) != 0)
			continue;
		err = formats[i].decompress(bytes, n, limit, out);
		if (!err && out->bytes)
			out->bytes[out->n] = '\0';
		return err;
	}
	return -ENOEXEC;
}
