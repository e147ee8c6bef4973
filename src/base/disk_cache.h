/*
 * What was made of other files and can be made again, kept for the next time: below $XDG_CACHE_HOME/tacho or
 * ~/.cache/tacho, by kinds. It is believed only when it belongs to us and nobody else may write it. Where it cannot be
 * written that is no fault: it is made again next time. What was not used for long goes when there is too much.
 */
#ifndef BASE_DISK_CACHE_H
#define BASE_DISK_CACHE_H

#include "base/defs.h"

#include <limits.h>
#include <sys/uio.h>

#define DISK_CACHE_MAX_BYTES ((uint64_t)512 << 20)	/* bytes of a kind */

/* Where the one of that kind and number is, or would be; false: nowhere. */
bool disk_cache_path(const char *kind, uint64_t number, char out[PATH_MAX]);
/* Its descriptor, with its length in *n; -1: there is none, or none to believe, or it is longer than `most`. */
int disk_cache_open(const char *path, size_t most, size_t *n);
/* All parts, one behind the other. 0, or a negative errno, -ENODATA where there is less. */
int disk_cache_read(int fd, struct iovec *parts, int n);

/* One that is being written; nobody reads half of it. */
struct disk_cache_writer {
	int fd;
	bool nameless;
	char path[PATH_MAX], temporary[PATH_MAX];
};
bool disk_cache_write_begin(struct disk_cache_writer *k, const char *path);	/* false: it cannot be written */
void disk_cache_write_end(struct disk_cache_writer *k, struct iovec *parts, int n);	/* n = 0: it is given up */

#endif
