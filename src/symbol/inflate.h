/*
 * Decompresses zlib data, by libdeflate, or by zlib where the build has not found libdeflate: it takes a third of the time, which is most
 * of what reading compressed debug data costs.
 */
#ifndef SYMBOL_INFLATE_H
#define SYMBOL_INFLATE_H

#include "base/buf.h"

/* Appends the `size` bytes that n bytes of a zlib stream decompress to. The size is not trusted: a small input cannot make us
 * fill much memory. Returns 0, -EBADMSG, -ENOMEM. */
int inflate_bytes(const uint8_t *in, size_t n, uint64_t size, struct buf *out);

#endif
