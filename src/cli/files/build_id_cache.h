/*
 * The build ID cache: a directory of objects by build ID, in perf's layout:
 *
 *	DIR/usr/bin/ls/15df...98/elf	a copy of the file, with its permissions
 *	DIR/[kernel.kallsyms]/7bda...87/kallsyms	the symbols of a kernel
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

/* Whether the cache belongs to the user, who alone may then have made the directories and links in it; also if it
 * does not exist and would be created in a directory of the user. `path` as for cache_open(). */
bool cache_is_own(const char *path);

/* Copies a file into the cache. 0, -EEXIST if the build ID is cached already, or another negative errno. */
int cache_add(struct cache_dir *c, const char *path, const char *id);
/* Stores the debug file of an object that is cached, from an open file. 0, -EEXIST if it is there already, or another
 * negative errno. */
int cache_add_debug(struct cache_dir *c, int fd, const char *id);
/* Whether the build ID is cached. */
bool cache_has(struct cache_dir *c, const char *id);
/* Puts an open file into the cache as the one that was at `path`, an absolute path. It shares the file's blocks
 * (reflink) where the file system can; a large file that belongs to the user becomes a hard link; others are copied.
 * Returns like cache_add(). */
int cache_add_open(struct cache_dir *c, int fd, const char *path, const char *id);
/* Puts the symbols of a kernel into the cache, the contents of /proc/kallsyms. */
int cache_add_kallsyms(struct cache_dir *c, const char *id, struct str text);
int cache_remove(struct cache_dir *c, const char *id);	/* 0 or -ENOENT ... */
/* The target of an entry's link, relative to the cache: "usr/bin/ls/15df...". */
int cache_folder(struct cache_dir *c, const char *id, char *out, size_t size);	/* 0 or -ENOENT ... */
/* Called for each entry, with its build ID and the path of the original file. */
typedef int (*cache_fn)(void *arg, const char *id, const char *path);
int cache_each(struct cache_dir *c, cache_fn fn, void *arg);

#endif
