/*
 * gzip, the writing half, small: what is put is cut into blocks, each packed by itself with
 * matches found by hash and the fixed codes of deflate. Larger than what zlib makes, by a fifth or
 * so, but no library is needed for it and it is fast.
 *
 *	struct gzip z = { .out = &buf };  gzip_put(&z, ...) ...  gzip_finish(&z);
 */
#ifndef BASE_GZIP_H
#define BASE_GZIP_H

#include "base/buf.h"

struct gzip {
	struct buf *out;		/* may be emptied between calls */
	struct buf block;		/* what waits to be packed */
	uint64_t bits;
	unsigned n_bits;
	uint32_t crc, total;
	bool begun;
};

void gzip_put(struct gzip *z, const void *bytes, size_t n);
void gzip_finish(struct gzip *z);	/* releases what it holds, too */

#endif
