/*
 * A small gzip compressor. The input is cut into blocks that are compressed independently, with
 * matches found through a hash table and deflate's fixed Huffman codes. The output is about a fifth
 * larger than zlib's; in return no library has to be loaded, and it is fast.
 *
 *	struct gzip z = { .out = &buf };  gzip_put(&z, ...) ...  gzip_finish(&z);
 */
#ifndef BASE_GZIP_H
#define BASE_GZIP_H

#include "base/buf.h"

struct gzip {
	struct buf *out;		/* the caller may empty it between calls */
	struct buf block;		/* input that is not compressed yet */
	uint64_t bits;
	unsigned n_bits;
	uint32_t crc, total;
	bool begun;
};

void gzip_put(struct gzip *z, const void *bytes, size_t n);
void gzip_finish(struct gzip *z);	/* writes the trailer and frees the block */

#endif
