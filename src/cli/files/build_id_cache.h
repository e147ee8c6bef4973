/*
 * The cache of objects by build id, in the layout that perf and its friends share:
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

/* `path` NULL: .debug in the home directory. It is made where `create` says so. */
int cache_open(struct cache_dir *c, const char *path, bool create, struct tacho_error *e);
void cache_close(struct cache_dir *c);

/* Copies the file in; 0, -EEXIST where that id is there already, or another negative errno. */
int cache_add(struct cache_dir *c, const char *path, const char *id);
int cache_remove(struct cache_dir *c, const char *id);	/* 0 or -ENOENT ... */
/* Where an entry's link leads, relative to the cache: "usr/bin/ls/15df...". */
int cache_folder(struct cache_dir *c, const char *id, char *out, size_t size);	/* 0 or -ENOENT ... */
/* Calls back for every entry with its id and the path of the original. */
typedef int (*cache_fn)(void *arg, const char *id, const char *path);
int cache_each(struct cache_dir *c, cache_fn fn, void *arg);

#endif
