/*
 * Reading whole files and writing whole buffers. Lengths are bounded; EINTR and short writes are handled.
 */
#ifndef BASE_IO_H
#define BASE_IO_H

#include "base/buf.h"

#define IO_FILE_MAX (64u << 20)

/* Appends the file's content to `out`. Works for files in /proc and /sys too, where stat() reports no
 * useful size. `dirfd` may be AT_FDCWD. Returns 0, -EFBIG if the file has more than `limit` bytes, or a
 * negative errno. */
int io_read_at(int dirfd, const char *path, size_t limit, struct buf *out);
int io_read(const char *path, size_t limit, struct buf *out);
/* Reads up to size - 1 bytes of a file into `out`, without trailing newlines and NUL-terminated.
 * Returns the length or a negative errno. */
int io_read_small(int dirfd, const char *path, char *out, size_t size);
int io_write_all(int fd, const void *bytes, size_t n);	/* 0 or a negative errno */
/* Whether `path` itself is a regular file: not a device, a pipe or a symbolic link such as /dev/stdout. */
bool io_is_regular_file(const char *path);
/* Opens a regular file for reading; the path may come from a recording or another user. Devices and pipes are not
 * opened at all, because that alone can have side effects. Returns a file descriptor, -EINVAL if it is not a regular
 * file, or another negative errno. */
int io_open_regular(const char *path);
/* Whether the process may access `path` in `mode` (F_OK, R_OK ...). Unlike access(), which asks for the real user, this
 * considers the effective user and file capabilities, as open() does. If not, sets errno. */
bool io_is_accessible(const char *path, int mode);
/* Whether both names refer to the same regular file. */
bool io_same_file(const char *a, const char *b);
/* Deletes a regular file, e.g. an incomplete output file; does nothing for other types of files. */
void io_discard(const char *path);
/* Creates the missing directories above `path`. Returns 0 or a negative errno. */
int io_make_parent_dirs(const char *path, unsigned mode);

#endif
