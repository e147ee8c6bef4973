/*
 * Built where zlib's header is missing: gzip files are not supported.
 */
#include "symbol/decompress.h"

#include <errno.h>

int decompress_gz(const void *bytes, size_t n, size_t limit, struct buf *out)
{
	(void)bytes, (void)n, (void)limit, (void)out;
	return -EOPNOTSUPP;
}
