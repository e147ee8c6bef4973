/*
 * The build ID cache: a directory of objects by build ID, in perf's layout:
 *
 *	DIR/usr/bin/ls/15df...98/elf	a copy of the file, with its permissions
 *	DIR/.build-id/15/df...98	-> ../../usr/bin/ls/15df...98
 */
#ifndef CLI_FILES_BUILD_ID_CACHE_H
#define CLI_FILES_BUILD_ID_CACHE_H

#include "base/buf.h"

#include <tacho/common.h>

struct cache_dir {
	int fd;
	char *path;
};

/* Opens `path`; NULL: $PERF_BUILDID_DIR, or .debug in the home directory. Creates it if `create` is set. */
int cache_open(struct cache_dir *c, const char *path, bool create, struct tacho_error *e);
void cache_close(struct cache_dir *c);

/* Copies a file into the cache. 0, -EEXIST if the build ID is cached already, or another negative errno. */
int cache_add(struct cache_dir *c, const char *path, const char *id);
int cache_remove(struct cache_dir *c, const char *id);	/* 0 or -ENOENT ... */
/* The target of an entry's link, relative to the cache: "usr/bin/ls/15df...". */
int cache_folder(struct cache_dir *c, const char *id, char *out, size_t size);	/* 0 or -ENOENT ... */
/* Called for each entry, with its build ID and the path of the original file. */
typedef int (*cache_fn)(void *arg, const char *id, const char *path);
int cache_each(struct cache_dir *c, cache_fn fn, void *arg);

#endif
