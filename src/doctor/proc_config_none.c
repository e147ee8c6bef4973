/*
 * Used in builds without zlib: /proc/config.gz cannot be read, but /boot/config-* still can.
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
