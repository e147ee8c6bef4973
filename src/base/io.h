/*
 * Whole files in, whole buffers out. Lengths are bounded; EINTR and short writes are handled.
 */
#ifndef BASE_IO_H
#define BASE_IO_H

#include "base/buf.h"

#define IO_FILE_MAX (64u << 20)

/* Appends the file to `out`; works for /proc and /sys files, whose size says nothing.
 * `dirfd` may be AT_FDCWD. Returns 0, -EFBIG above `limit` bytes, or a negative errno. */
int io_read_at(int dirfd, const char *path, size_t limit, struct buf *out);
int io_read(const char *path, size_t limit, struct buf *out);
/* A small file into a caller's array, trimmed at the last newline; returns its length. */
int io_read_small(int dirfd, const char *path, char *out, size_t size);
int io_write_all(int fd, const void *bytes, size_t n);	/* 0 or a negative errno */
/* Whether `path` itself is a plain file: no device, no pipe, no link such as /dev/stdout. */
bool io_is_regular_file(const char *path);
/* Whether both names are of one plain file. */
bool io_same_file(const char *a, const char *b);
/* Removes a plain file, e.g. a half-written output; leaves everything else where it is. */
void io_discard(const char *path);
/* Makes the directories above `path`, where they are missing. 0 or a negative errno. */
int io_make_parent_dirs(const char *path, unsigned mode);

#endif
