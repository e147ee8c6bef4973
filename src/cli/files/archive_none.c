/*
 * Stubs for builds without libarchive: packing and unpacking fail with -EOPNOTSUPP and a hint.
 */
#include "cli/files/archive.h"

#include <errno.h>

#include "base/error.h"

static int no_libarchive(struct tacho_error *e)
{
	error_set(e, -EOPNOTSUPP, "this build cannot write or read archives");
	error_hint(e, "build it with libarchive's headers");
	return -EOPNOTSUPP;
}

int archive_objects(const struct archive_opts *o, const struct file_objects *objects,
		    const struct archive_compression *c, int fd, struct tacho_error *e)
{
	(void)o, (void)objects, (void)c, (void)fd;
	return no_libarchive(e);
}

int archive_all(const char *recording, int symbols, const struct archive_compression *c, int fd,
		struct tacho_error *e)
{
	(void)recording, (void)symbols, (void)c, (void)fd;
	return no_libarchive(e);
}

int archive_unpack(const char *path, const struct archive_opts *o, struct cache_dir *cache,
		   struct archive_unpacked *out, struct tacho_error *e)
{
	(void)path, (void)o, (void)cache, (void)out;
	return no_libarchive(e);
}
