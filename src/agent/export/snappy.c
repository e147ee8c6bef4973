/*
 * Snappy compression with libsnappy.
 */
#include "agent/export/snappy.h"

#include <errno.h>
#include <snappy-c.h>

int snappy_block(struct str in, struct buf *out)
{
	size_t n = snappy_max_compressed_length(in.n);
	char *space = buf_grow(out, n);

	if (!space || snappy_compress(in.s, in.n, space, &n) != SNAPPY_OK) {
		out->bad = true;
		return -ENOMEM;
	}
	out->n += n;
	return 0;
}
