/*
 * Decompression of whole files: xz, zstd and gzip, which distributions use for kernel modules and
 * mini debug info.
 */
#ifndef SYMBOL_DECOMPRESS_H
#define SYMBOL_DECOMPRESS_H

#include "base/buf.h"

enum { COMPRESSION_MAGIC_BYTES = 6 };	/* bytes needed to recognise a format */

/* Whether a file that begins with these bytes is compressed in a known format. */
bool is_compressed(const void *bytes, size_t n);
/* Appends the decompressed bytes, at most `limit`. Returns 0, -ENOEXEC when the format is unknown,
 * -EOPNOTSUPP when its library is missing, -EBADMSG, -EFBIG, -ENOMEM. */
int decompress(const void *bytes, size_t n, size_t limit, struct buf *out);

/* One function per format, in its own file; the *_none.c files replace them in builds without the library. */
int decompress_xz(const void *bytes, size_t n, size_t limit, struct buf *out);
int decompress_gz(const void *bytes, size_t n, size_t limit, struct buf *out);

#endif
