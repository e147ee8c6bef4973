#include "base/disk_cache.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/io.h"

#define FILES_MOST 2048u		/* of a kind: half of them stay */
#define DAY 86400			/* so often is it noted that one is used */

bool disk_cache_path(const char *kind, uint64_t number, char out[PATH_MAX])
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
	if (st.st_mtime < time(NULL) - DAY)
		futimens(fd, NULL);
	return true;
}

int disk_cache_open(const char *path, size_t most, size_t *n)
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

int disk_cache_read(int fd, struct iovec *parts, int n)
{
	return transfer(fd, parts, n, readv);
}

/* ---- what goes ---- */

struct old {
	char name[32];			/* longer ones are none of ours */
	uint64_t bytes;
	time_t used;
};

static int cmp_used(const void *pa, const void *pb)
{
	const struct old *a = pa, *b = pb;

	return (a->used > b->used) - (a->used < b->used);
}

/* The files of the directory, up to `most` of them; returns how many. */
static size_t list_old(DIR *dir, struct old *out, size_t most)
{
	const struct dirent *d;
	size_t n = 0;

	while (n < most && (d = readdir(dir))) {
		struct stat st;

		if (strlen(d->d_name) >= sizeof(out->name) ||
		    fstatat(dirfd(dir), d->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISREG(st.st_mode))
			continue;
		out[n] = (struct old){ .bytes = (uint64_t)st.st_size, .used = st.st_mtime };
		memcpy(out[n++].name, d->d_name, strlen(d->d_name) + 1);
	}
	return n;
}

/* Those that were not used for longest, while there is too much. */
static void drop_in(DIR *dir)
{
	scoped(freep) struct old *v = reallocarray(NULL, FILES_MOST, sizeof(*v));
	size_t n = v ? list_old(dir, v, FILES_MOST) : 0;
	uint64_t bytes = 0;

	for (size_t i = 0; i < n; i++)
		bytes += v[i].bytes;
	if (n)
		qsort(v, n, sizeof(*v), cmp_used);
	for (size_t i = 0; i < n && (bytes > DISK_CACHE_MAX_BYTES || n - i > FILES_MOST / 2); i++) {
		bytes -= v[i].bytes;
		unlinkat(dirfd(dir), v[i].name, 0);
	}
}

/* Of the kind of that one. */
static void drop_old(char *path)
{
	char *slash = strrchr(path, '/');
	DIR *dir;

	*slash = '\0';
	dir = opendir(path);
	*slash = '/';
	if (!dir)
		return;
	drop_in(dir);
	closedir(dir);
}

/* ---- writing ---- */

/* Root may be at work in somebody's home: it is no place for files that only root can read. */
static bool is_own_place(const char *path)
{
	char part[PATH_MAX];
	struct stat st;
	char *slash;

	if (geteuid() != 0)
		return true;
	snprintf(part, sizeof(part), "%s", path);
	while ((slash = strrchr(part, '/')) && slash > part) {
		*slash = '\0';
		if (stat(part, &st) == 0)
			return st.st_uid == 0;
	}
	return true;
}

/* A file without a name is gone with who writes it. Not all file systems have such. */
static int open_new(struct disk_cache_writer *k)
{
	char dir[PATH_MAX];

	snprintf(dir, sizeof(dir), "%s", k->path);
	*strrchr(dir, '/') = '\0';
	k->fd = open(dir, O_WRONLY | O_CLOEXEC | O_TMPFILE, 0600);
	k->nameless = k->fd >= 0;
	return k->nameless ? k->fd : mkostemp(k->temporary, O_CLOEXEC);
}

bool disk_cache_write_begin(struct disk_cache_writer *k, const char *path)
{
	int n = snprintf(k->path, sizeof(k->path), "%s", path);
	int m = snprintf(k->temporary, sizeof(k->temporary), "%s.XXXXXX", path);

	if (n < 0 || m < 0 || m >= (int)sizeof(k->temporary) || !is_own_place(path) || io_make_parent_dirs(path, 0700) < 0)
		return false;
	k->fd = open_new(k);
	return k->fd >= 0;
}

/* Gives it a name of its own, as no name can be taken over without one. */
static int name_it(struct disk_cache_writer *k)
{
	char from[32];
	int n;

	if (!k->nameless)
		return 0;
	snprintf(from, sizeof(from), "/proc/self/fd/%d", k->fd);
	n = snprintf(k->temporary, sizeof(k->temporary), "%s.%ld", k->path, (long)getpid());
	if (n < 0 || n >= (int)sizeof(k->temporary))
		return -1;
	return linkat(AT_FDCWD, from, AT_FDCWD, k->temporary, AT_SYMLINK_FOLLOW);
}

void disk_cache_write_end(struct disk_cache_writer *k, struct iovec *parts, int n)
{
	bool whole = n > 0 && transfer(k->fd, parts, n, writev) == 0 && name_it(k) == 0;

	if (close(k->fd) < 0 || !whole || rename(k->temporary, k->path) < 0) {
		if (whole || !k->nameless)
			unlink(k->temporary);
		return;
	}
	drop_old(k->path);
}
