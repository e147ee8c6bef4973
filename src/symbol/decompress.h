/*
 * Packed bytes, as distributions keep modules and small debug files: xz, zstd, gzip.
 */
#ifndef SYMBOL_DECOMPRESS_H
#define SYMBOL_DECOMPRESS_H

#include "base/buf.h"

enum { UNPACK_MAGIC = 6 };	/* how many bytes tell what it is */

/* Whether these first bytes are those of a packed file. */
bool unpack_knows(const void *bytes, size_t n);
/* Appends what comes out, at most `limit` bytes. 0; -ENOEXEC when it is not packed, -EOPNOTSUPP
 * when this build or machine cannot unpack it, -EBADMSG, -EFBIG, -ENOMEM. */
int unpack(const void *bytes, size_t n, size_t limit, struct buf *out);

/* The same by kind; each in a file of its own, or a *_none.c without its library. */
int unpack_xz(const void *bytes, size_t n, size_t limit, struct buf *out);
int unpack_gz(const void *bytes, size_t n, size_t limit, struct buf *out);

#endif
