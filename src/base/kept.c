#include "base/kept.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io.h"

bool kept_path(const char *kind, uint64_t number, char out[PATH_MAX])
{
	const char *base = secure_getenv("XDG_CACHE_HOME"), *home = secure_getenv("HOME");
	unsigned long long id = number;
	int n = 0;

	if (base && *base == '/')
		n = snprintf(out, PATH_MAX, "%s/tacho/%s/%016llx", base, kind, id);
	else if (home && *home == '/')
		n = snprintf(out, PATH_MAX, "%s/.cache/tacho/%s/%016llx", home, kind, id);
	return n > 0 && n < PATH_MAX;
}

static bool is_ours(int fd, size_t most, size_t *n)
{
	struct stat st;

	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_uid != geteuid() || (st.st_mode & 022) ||
	    st.st_size <= 0 || (uint64_t)st.st_size > most)
		return false;
	*n = (size_t)st.st_size;
	return true;
}

int kept_open(const char *path, size_t most, size_t *n)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);

	if (fd >= 0 && !is_ours(fd, most, n)) {
		close(fd);
		return -1;
	}
	return fd;
}

/* The first `done` bytes of *parts are; returns how many parts are whole. */
static int pass(struct iovec *parts, int n, size_t done)
{
	int i = 0;

	for (; i < n && done >= parts[i].iov_len; i++)
		done -= parts[i].iov_len;
	if (i < n) {
		parts[i].iov_base = (char *)parts[i].iov_base + done;
		parts[i].iov_len -= done;
	}
	return i;
}

/* With readv() or writev(). */
static int transfer(int fd, struct iovec *parts, int n, ssize_t (*some)(int, const struct iovec *, int))
{
	int first = pass(parts, n, 0);

	while (first < n) {
		ssize_t got = some(fd, parts + first, n - first);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return got < 0 ? -errno : -ENODATA;
		first += pass(parts + first, n - first, (size_t)got);
	}
	return 0;
}

int kept_read(int fd, struct iovec *parts, int n)
{
	return transfer(fd, parts, n, readv);
}

void kept_write(const char *path, struct iovec *parts, int n)
{
	char temporary[PATH_MAX];
	int len = snprintf(temporary, sizeof(temporary), "%s.XXXXXX", path), fd, err;

	if (len < 0 || len >= (int)sizeof(temporary) || io_make_dirs(temporary, 0700) < 0)
		return;
	fd = mkostemp(temporary, O_CLOEXEC);
	if (fd < 0)
		return;
	err = transfer(fd, parts, n, writev);
	if (close(fd) < 0 || err < 0 || rename(temporary, path) < 0)
		unlink(temporary);
}
