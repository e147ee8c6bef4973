/*
 * The build had no zlib, so /proc/config.gz cannot be read; /boot may still tell.
 */
#include "doctor/check.h"

#include <errno.h>

int config_read_gz(const char *path, size_t limit, struct buf *out)
{
	(void)path;
	(void)limit;
	(void)out;
	return -EOPNOTSUPP;
}
