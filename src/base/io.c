/*
 * Reads whole files and writes whole buffers.
 */
#include "base/io.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#define CHUNK 4096u

static ssize_t read_some(int fd, void *bytes, size_t n)
{
	ssize_t got;

	do
		got = read(fd, bytes, n);
	while (got < 0 && errno == EINTR);
	return got;
}

/* The size that stat() reports; 0 if it exceeds `limit` or says nothing, as for files in /proc. */
static size_t stat_size(int fd, size_t limit)
{
	struct stat st;

	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || (uint64_t)st.st_size > limit)
		return 0;
	return (size_t)st.st_size;
}

int io_open_regular(const char *path)
{
	/* O_PATH gives a handle without opening the file. */
	scoped(closep) int handle = open(path, O_PATH | O_CLOEXEC);
	char by_handle[32];
	struct stat st;
	int fd;

	if (handle < 0 || fstat(handle, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -EINVAL;
	snprintf(by_handle, sizeof(by_handle), "/proc/self/fd/%d", handle);
	fd = open(by_handle, O_RDONLY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

int io_read_at(int dirfd, const char *path, size_t limit, struct buf *out)
{
	scoped(closep) int fd = openat(dirfd, path, O_RDONLY | O_CLOEXEC);
	size_t start = out->n, chunk;

	if (fd < 0)
		return -errno;
	chunk = stat_size(fd, limit) + CHUNK;
	for (;;) {
		char *at = buf_grow(out, chunk);
		ssize_t got;

		if (!at)
			return -ENOMEM;
		got = read_some(fd, at, chunk);
		if (got < 0)
			return -errno;
		out->n += (size_t)got;
		out->bytes[out->n] = '\0';
		if (got == 0)
			return 0;
		if (out->n - start > limit)
			return -EFBIG;
		if ((size_t)got < chunk)
			chunk = CHUNK;		/* a short read: the end is near */
		else if (chunk < (1u << 20))
			chunk *= 2;
	}
}

int io_read(const char *path, size_t limit, struct buf *out)
{
	return io_read_at(AT_FDCWD, path, limit, out);
}

int io_read_small(int dirfd, const char *path, char *out, size_t size)
{
	scoped(closep) int fd = openat(dirfd, path, O_RDONLY | O_CLOEXEC);
	size_t n = 0;

	if (fd < 0)
		return -errno;
	while (n < size - 1) {
		ssize_t got = read_some(fd, out + n, size - 1 - n);

		if (got < 0)
			return -errno;
		if (got == 0)
			break;
		n += (size_t)got;
	}
	while (n && out[n - 1] == '\n')
		n--;
	out[n] = '\0';
	return (int)n;
}

int io_write_all(int fd, const void *bytes, size_t n)
{
	const char *at = bytes;

	while (n) {
		ssize_t put = write(fd, at, n);

		if (put < 0 && errno == EINTR)
			continue;
		if (put < 0)
			return -errno;
		at += put;
		n -= (size_t)put;
	}
	return 0;
}

bool io_is_regular_file(const char *path)
{
	struct stat st;

	return lstat(path, &st) == 0 && S_ISREG(st.st_mode);
}

bool io_is_accessible(const char *path, int mode)
{
	return faccessat(AT_FDCWD, path, mode, AT_EACCESS) == 0;
}

bool io_same_file(const char *a, const char *b)
{
	struct stat sa, sb;

	return stat(a, &sa) == 0 && stat(b, &sb) == 0 && S_ISREG(sa.st_mode) &&
	       sa.st_dev == sb.st_dev && sa.st_ino == sb.st_ino;
}

void io_discard(const char *path)
{
	if (io_is_regular_file(path))
		unlink(path);
}

int io_make_parent_dirs(const char *path, unsigned mode)
{
	char part[PATH_MAX];
	size_t n = strlen(path);

	if (n >= sizeof(part))
		return -ENAMETOOLONG;
	memcpy(part, path, n + 1);
	for (char *slash = strchr(part + (*part == '/'), '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		if (mkdir(part, mode) < 0 && errno != EEXIST)
			return -errno;
		*slash = '/';
	}
	return 0;
}
