/*
 * Built where liblzma's header is missing: xz files are not supported.
 */
#include "symbol/decompress.h"

#include <errno.h>

int decompress_xz(const void *bytes, size_t n, size_t limit, struct buf *out)
{
	(void)bytes, (void)n, (void)limit, (void)out;
	return -EOPNOTSUPP;
}
