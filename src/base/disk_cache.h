/*
 * A cache of derived data on disk: $XDG_CACHE_HOME/tacho/KIND/NUMBER, or below ~/.cache/tacho. An entry is trusted
 * only if it is owned by the effective user and not writable by others. Failing to write an entry is not an error: the
 * data is derived again next time. Least recently used entries are deleted when a kind exceeds its limit.
 */
#ifndef BASE_DISK_CACHE_H
#define BASE_DISK_CACHE_H

#include "base/defs.h"

#include <limits.h>
#include <sys/uio.h>

#define DISK_CACHE_MAX_BYTES ((uint64_t)512 << 20)	/* limit per kind */

/* Path of a cache entry. Returns false if no cache directory is usable. */
bool disk_cache_path(const char *kind, uint64_t number, char out[PATH_MAX]);
/* Opens an entry for reading and stores its length in *n. Returns a file descriptor, or -1 if the entry does not
 * exist, is not trusted, or is longer than `max_bytes`. */
int disk_cache_open(const char *path, size_t max_bytes, size_t *n);
/* Reads the file into the `n` parts, in sequence. Returns 0 or a negative errno, -ENODATA if the file is shorter. */
int disk_cache_read(int fd, struct iovec *parts, int n);

/* An entry that is being written. It appears under its path only when it is complete. */
struct disk_cache_writer {
	int fd;
	bool unnamed;		/* opened with O_TMPFILE: no directory entry yet */
	char path[PATH_MAX], temporary[PATH_MAX];
};
bool disk_cache_write_begin(struct disk_cache_writer *k, const char *path);	/* false: the cache is not writable */
void disk_cache_write_end(struct disk_cache_writer *k, struct iovec *parts, int n);	/* n = 0: discards the entry */

#endif
