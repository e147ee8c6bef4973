/*
 * Cache entries on disk. A new entry is written to an unnamed or temporary file and then renamed, so readers
 * never see a partial entry. The modification time of a file records when it was last used, to within a day.
 */
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

#define FILES_MAX 2048u			/* limit per kind; deletion goes on until half is left */
#define DAY_S 86400			/* how often the time of use is updated */

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

static bool is_trusted(int fd, size_t max_bytes, size_t *n)
{
	struct stat st;

	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_uid != geteuid() || (st.st_mode & 022) ||
	    st.st_size <= 0 || (uint64_t)st.st_size > max_bytes)
		return false;
	*n = (size_t)st.st_size;
	if (st.st_mtime < time(NULL) - DAY_S)
		futimens(fd, NULL);
	return true;
}

int disk_cache_open(const char *path, size_t max_bytes, size_t *n)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);

	if (fd >= 0 && !is_trusted(fd, max_bytes, n)) {
		close(fd);
		return -1;
	}
	return fd;
}

/* Advances *parts by `done` transferred bytes; returns how many parts are complete. */
static int advance_parts(struct iovec *parts, int n, size_t done)
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

/* Calls readv() or writev() until all parts are transferred. */
static int transfer(int fd, struct iovec *parts, int n, ssize_t (*readv_or_writev)(int, const struct iovec *, int))
{
	int first = advance_parts(parts, n, 0);

	while (first < n) {
		ssize_t got = readv_or_writev(fd, parts + first, n - first);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return got < 0 ? -errno : -ENODATA;
		first += advance_parts(parts + first, n - first, (size_t)got);
	}
	return 0;
}

int disk_cache_read(int fd, struct iovec *parts, int n)
{
	return transfer(fd, parts, n, readv);
}

/* ---- deleting old entries ---- */

#define NAME_DIGITS 16			/* digits of an entry's number in its file name */

struct cached_file {
	char name[32];
	uint64_t bytes;
	time_t last_used;
};

static int compare_last_used(const void *pa, const void *pb)
{
	const struct cached_file *a = pa, *b = pb;

	return (a->last_used > b->last_used) - (a->last_used < b->last_used);
}

/* Whether a file name is that of an entry, or of a temporary file that a killed writer has left: sixteen hexadecimal
 * digits, and perhaps a dot and a suffix. */
static bool is_entry_name(const char *name)
{
	size_t digits = strspn(name, "0123456789abcdef"), n = strlen(name);

	return digits == NAME_DIGITS && n < sizeof(((struct cached_file *)NULL)->name) &&
	       (name[digits] == '\0' || (name[digits] == '.' && !strchr(name + digits + 1, '.')));
}

/* Lists up to `max` cache entries in the directory; returns how many. */
static size_t list_files(DIR *dir, struct cached_file *out, size_t max)
{
	const struct dirent *d;
	size_t n = 0;

	while (n < max && (d = readdir(dir))) {
		struct stat st;

		if (!is_entry_name(d->d_name) || fstatat(dirfd(dir), d->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
		    !S_ISREG(st.st_mode) || st.st_uid != geteuid())
			continue;
		out[n] = (struct cached_file){ .bytes = (uint64_t)st.st_size, .last_used = st.st_mtime };
		memcpy(out[n++].name, d->d_name, strlen(d->d_name) + 1);
	}
	return n;
}

/* Deletes the least recently used files until the directory is within its limits. */
static void delete_old_files(DIR *dir)
{
	scoped(freep) struct cached_file *v = reallocarray(NULL, FILES_MAX, sizeof(*v));
	size_t n = v ? list_files(dir, v, FILES_MAX) : 0;
	uint64_t bytes = 0;

	for (size_t i = 0; i < n; i++)
		bytes += v[i].bytes;
	if (n)
		qsort(v, n, sizeof(*v), compare_last_used);
	for (size_t i = 0; i < n && (bytes > DISK_CACHE_MAX_BYTES || n - i > FILES_MAX / 2); i++) {
		bytes -= v[i].bytes;
		unlinkat(dirfd(dir), v[i].name, 0);
	}
}

/* Opens a directory that belongs to us; never through a symbolic link. */
static DIR *open_own_directory(const char *path)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;
	DIR *dir = NULL;

	if (fd >= 0 && fstat(fd, &st) == 0 && st.st_uid == geteuid())
		dir = fdopendir(fd);
	if (!dir && fd >= 0)
		close(fd);
	return dir;
}

/* Limits the size of the directory that `path` is in. */
static void limit_directory(char *path)
{
	char *slash = strrchr(path, '/');
	DIR *dir;

	*slash = '\0';
	dir = open_own_directory(path);
	*slash = '/';
	if (!dir)
		return;
	delete_old_files(dir);
	closedir(dir);
}

/* ---- writing ---- */

/* Root may run with another user's HOME. There it must neither create files that only root can read, nor follow that
 * user's symbolic links: every existing directory of the path has to belong to root. */
static bool is_own_path(const char *path)
{
	char part[PATH_MAX];
	struct stat st;
	char *slash;

	if (geteuid() != 0)
		return true;
	snprintf(part, sizeof(part), "%s", path);
	while ((slash = strrchr(part, '/')) && slash > part) {
		*slash = '\0';
		if (lstat(part, &st) == 0 && st.st_uid != 0)
			return false;
	}
	return true;
}

/* Prefers O_TMPFILE, because an unnamed file vanishes if the process dies; not all file systems support it. */
static int open_unnamed_or_temporary(struct disk_cache_writer *k)
{
	char dir[PATH_MAX];

	snprintf(dir, sizeof(dir), "%s", k->path);
	*strrchr(dir, '/') = '\0';
	k->fd = open(dir, O_WRONLY | O_CLOEXEC | O_TMPFILE, 0600);
	k->unnamed = k->fd >= 0;
	return k->unnamed ? k->fd : mkostemp(k->temporary, O_CLOEXEC);
}

bool disk_cache_write_begin(struct disk_cache_writer *k, const char *path)
{
	int n = snprintf(k->path, sizeof(k->path), "%s", path);
	int m = snprintf(k->temporary, sizeof(k->temporary), "%s.XXXXXX", path);

	if (n < 0 || m < 0 || m >= (int)sizeof(k->temporary) || !is_own_path(path) || io_make_parent_dirs(path, 0700) < 0)
		return false;
	k->fd = open_unnamed_or_temporary(k);
	return k->fd >= 0;
}

/* Gives an unnamed file a temporary name: linkat() cannot replace an existing file, rename() can. */
static int link_temporary_name(struct disk_cache_writer *k)
{
	char from[32];
	int n;

	if (!k->unnamed)
		return 0;
	snprintf(from, sizeof(from), "/proc/self/fd/%d", k->fd);
	n = snprintf(k->temporary, sizeof(k->temporary), "%s.%ld", k->path, (long)getpid());
	if (n < 0 || n >= (int)sizeof(k->temporary))
		return -1;
	return linkat(AT_FDCWD, from, AT_FDCWD, k->temporary, AT_SYMLINK_FOLLOW);
}

void disk_cache_write_end(struct disk_cache_writer *k, struct iovec *parts, int n)
{
	bool complete = n > 0 && transfer(k->fd, parts, n, writev) == 0 && link_temporary_name(k) == 0;

	if (close(k->fd) < 0 || !complete || rename(k->temporary, k->path) < 0) {
		if (complete || !k->unnamed)
			unlink(k->temporary);
		return;
	}
	limit_directory(k->path);
}
