/*
 * Adds entries to the build ID cache, removes and lists them. All paths are relative to the cache's
 * directory file descriptor. A copy gets its final name only when it is complete.
 */
#include "cli/files/build_id_cache.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/fs.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/sendfile.h>
#include <sys/stat.h>

#include "base/error.h"
#include "base/io.h"

enum { MIN_ID = 4, MAX_ID = 64 };	/* hexadecimal digits */
#define LINK_BYTES (8 << 20)		/* larger files are linked rather than copied */

/* Returns the cache's path, to be freed; NULL: no memory. */
static char *cache_path(const char *path)
{
	const char *home = getenv("HOME");
	struct buf where = { 0 };

	if (!path)
		path = getenv("PERF_BUILDID_DIR");
	if (path && *path)
		buf_puts(&where, path);
	else
		buf_printf(&where, "%s/.debug", home ? home : "");
	return buf_take(&where);
}

bool cache_is_own(const char *path)
{
	scoped(freep) char *where = cache_path(path);
	struct stat st;
	char *slash;

	if (!where)
		return false;
	if (stat(where, &st) == 0)
		return S_ISDIR(st.st_mode) && st.st_uid == geteuid();
	slash = strrchr(where, '/');
	if (errno != ENOENT || slash == where)
		return false;
	if (slash)
		*slash = '\0';
	return stat(slash ? where : ".", &st) == 0 && st.st_uid == geteuid();
}

int cache_open(struct cache_dir *c, const char *path, bool create, struct tacho_error *e)
{
	c->fd = -1;
	c->path = cache_path(path);
	if (!c->path)
		return error_nomem(e);
	if (create && mkdir(c->path, 0755) < 0 && errno != EEXIST)
		return error_set(e, -errno, "cannot make '%s': %s", c->path, strerror(errno));
	c->fd = open(c->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (c->fd < 0)
		return error_set(e, -errno, "cannot open '%s': %s", c->path, strerror(errno));
	return 0;
}

void cache_close(struct cache_dir *c)
{
	if (c->fd >= 0)
		close(c->fd);
	free(c->path);
	c->fd = -1;
	c->path = NULL;
}

/* Creates the missing directories of `path`. */
static int make_dirs(int fd, char *path)
{
	for (char *slash = path;; slash++) {
		slash = strchr(slash, '/');
		if (slash)
			*slash = 0;
		if (mkdirat(fd, path, 0755) < 0 && errno != EEXIST)
			return -errno;
		if (!slash)
			return 0;
		*slash = '/';
	}
}

static int copy_bytes(int from, int to)
{
	ssize_t n;

	do
		n = sendfile(to, from, NULL, 1 << 24);
	while (n > 0 || (n < 0 && errno == EINTR));
	return n < 0 ? -errno : 0;
}

/* Makes a hard link to an open file. Only files of the user, who can change them later anyway, and never one that
 * runs with other rights. */
static int link_file(int dir, int from, const struct stat *st, const char *to)
{
	char path[32];

	if (st->st_uid != geteuid() || st->st_mode & (S_ISUID | S_ISGID))
		return -EPERM;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", from);
	if (linkat(AT_FDCWD, path, dir, to, AT_SYMLINK_FOLLOW) == 0 || errno == EEXIST)
		return 0;
	return -errno;
}

/* A file that is written under a temporary name. */
struct part_file {
	int dir, fd;
	const char *to;			/* its final name, relative to the directory `dir` */
	char *name;
};

static int part_open(struct part_file *p, int dir, const char *to)
{
	*p = (struct part_file){ .dir = dir, .fd = -1, .to = to };
	if (asprintf(&p->name, "%s.%ld.part", to, (long)getpid()) < 0) {
		p->name = NULL;
		return -ENOMEM;
	}
	unlinkat(dir, p->name, 0);		/* may be left by a process that was killed */
	p->fd = openat(dir, p->name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	return p->fd < 0 ? -errno : 0;
}

/* Gives the file its name, or deletes it after an error. Returns the error. */
static int part_finish(struct part_file *p, mode_t mode, int err)
{
	if (!err && (fchmod(p->fd, mode) < 0 || renameat(p->dir, p->name, p->dir, p->to) < 0))
		err = -errno;
	if (err && p->fd >= 0 && p->name)
		unlinkat(p->dir, p->name, 0);
	if (p->fd >= 0)
		close(p->fd);
	free(p->name);
	return err;
}

static int copy_file(int dir, int from, const char *to)
{
	struct part_file part;
	struct stat st;
	int err;

	if (fstat(from, &st) < 0)
		return -errno;
	err = part_open(&part, dir, to);
	if (err == 0 && ioctl(part.fd, FICLONE, from) < 0) {
		if (st.st_size > LINK_BYTES && link_file(dir, from, &st, to) == 0) {
			part_finish(&part, 0, -EEXIST);
			return 0;
		}
		err = copy_bytes(from, part.fd);
	}
	return part_finish(&part, (st.st_mode & 0777) | 0400, err);
}

static bool is_valid_id(const char *id)
{
	size_t n = strlen(id);

	return n >= MIN_ID && n <= MAX_ID && strspn(id, "0123456789abcdef") == n;
}

static int link_id(struct cache_dir *c, const char *id, const char *folder)
{
	char link[MAX_ID + 32], dir[32];
	struct buf target = { 0 };
	int err = 0;

	snprintf(dir, sizeof(dir), ".build-id/%.2s", id);
	snprintf(link, sizeof(link), "%s/%s", dir, id + 2);
	buf_printf(&target, "../../%s", folder);
	if (buf_failed(&target))
		return -ENOMEM;
	err = make_dirs(c->fd, dir);
	if (!err && symlinkat(target.bytes, c->fd, link) < 0)
		err = -errno;
	buf_done(&target);
	return err;
}

bool cache_has(struct cache_dir *c, const char *id)
{
	char link[MAX_ID + 32];
	struct stat st;

	if (!is_valid_id(id))
		return false;
	snprintf(link, sizeof(link), ".build-id/%.2s/%s", id, id + 2);
	return fstatat(c->fd, link, &st, 0) == 0;
}

static bool is_plain_path(const char *path)
{
	return path[0] == '/' && path[1] && !strstr(path, "/../") && !str_ends(str_of(path), "/..");
}

/* Makes the directory of an entry. *folder and *file are paths relative to the cache, to be freed. */
static int make_entry(struct cache_dir *c, const char *name, const char *id, const char *kind, char **folder, char **file)
{
	char link[MAX_ID + 32];

	if (!is_valid_id(id))
		return -EINVAL;
	if (cache_has(c, id))
		return -EEXIST;
	snprintf(link, sizeof(link), ".build-id/%.2s/%s", id, id + 2);
	unlinkat(c->fd, link, 0);		/* a dangling link */
	if (asprintf(folder, "%s/%s", name, id) < 0) {
		*folder = NULL;
		return -ENOMEM;
	}
	if (asprintf(file, "%s/%s", *folder, kind) < 0) {
		*file = NULL;
		return -ENOMEM;
	}
	return make_dirs(c->fd, *folder);
}

int cache_add_open(struct cache_dir *c, int fd, const char *path, const char *id)
{
	scoped(freep) char *folder = NULL, *elf = NULL;
	int err = is_plain_path(path) ? make_entry(c, path + 1, id, "elf", &folder, &elf) : -EINVAL;

	if (!err)
		err = copy_file(c->fd, fd, elf);
	return err ? err : link_id(c, id, folder);
}

int cache_add_kallsyms(struct cache_dir *c, const char *id, struct str text)
{
	scoped(freep) char *folder = NULL, *file = NULL;
	struct part_file part;
	int err = make_entry(c, "[kernel.kallsyms]", id, "kallsyms", &folder, &file);

	if (err)
		return err;
	err = part_open(&part, c->fd, file);
	if (!err)
		err = io_write_all(part.fd, text.s, text.n);
	err = part_finish(&part, 0600, err);
	return err ? err : link_id(c, id, folder);
}

int cache_add(struct cache_dir *c, const char *path, const char *id)
{
	scoped(freep) char *full = realpath(path, NULL);
	scoped(closep) int fd = -1;

	if (!full)
		return -errno;
	fd = io_open_regular(full);
	return fd < 0 ? fd : cache_add_open(c, fd, full, id);
}

int cache_folder(struct cache_dir *c, const char *id, char *out, size_t size)
{
	char link[MAX_ID + 32];
	ssize_t n;

	if (!is_valid_id(id))
		return -EINVAL;
	snprintf(link, sizeof(link), ".build-id/%.2s/%s", id, id + 2);
	n = readlinkat(c->fd, link, out, size - 1);
	if (n < 0)
		return -errno;
	out[n] = 0;
	if (strncmp(out, "../../", 6) != 0 || strstr(out + 6, ".."))
		return -EINVAL;			/* points outside the cache */
	memmove(out, out + 6, (size_t)n - 5);
	return 0;
}

int cache_add_debug(struct cache_dir *c, int fd, const char *id)
{
	scoped(freep) char *file = NULL;
	char folder[PATH_MAX];
	int err = cache_folder(c, id, folder, sizeof(folder));

	if (err)
		return err;
	if (asprintf(&file, "%s/debug", folder) < 0) {
		file = NULL;
		return -ENOMEM;
	}
	return faccessat(c->fd, file, F_OK, AT_SYMLINK_NOFOLLOW) == 0 ? -EEXIST : copy_file(c->fd, fd, file);
}

int cache_remove(struct cache_dir *c, const char *id)
{
	static const char *const files[] = { "elf", "probes", "debug", "vdso", "kallsyms" };
	char folder[PATH_MAX], link[MAX_ID + 32];
	int err = cache_folder(c, id, folder, sizeof(folder));

	if (err)
		return err;
	for (size_t i = 0; i < countof(files); i++) {
		scoped(freep) char *path = NULL;

		if (asprintf(&path, "%s/%s", folder, files[i]) < 0)
			return -ENOMEM;
		unlinkat(c->fd, path, 0);
	}
	if (unlinkat(c->fd, folder, AT_REMOVEDIR) < 0 && errno != ENOENT)
		return -errno;
	snprintf(link, sizeof(link), ".build-id/%.2s/%s", id, id + 2);
	return unlinkat(c->fd, link, 0) < 0 ? -errno : 0;
}

static int each_with_prefix(struct cache_dir *c, const char *prefix, cache_fn fn, void *arg)
{
	char sub[32], id[MAX_ID + 8], folder[PATH_MAX], *slash;
	struct dirent *d;
	DIR *dir;
	int fd, err = 0;

	snprintf(sub, sizeof(sub), ".build-id/%.2s", prefix);
	fd = openat(c->fd, sub, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	dir = fd < 0 ? NULL : fdopendir(fd);
	if (!dir) {
		if (fd >= 0)
			close(fd);
		return 0;
	}
	while (!err && (d = readdir(dir))) {
		if (d->d_name[0] == '.' || strlen(d->d_name) > MAX_ID)
			continue;
		snprintf(id, sizeof(id), "%.2s%.64s", prefix, d->d_name);
		if (cache_folder(c, id, folder + 1, sizeof(folder) - 1))
			continue;
		folder[0] = '/';
		slash = strrchr(folder, '/');
		*slash = 0;
		err = fn(arg, id, folder[1] == '[' ? folder + 1 : folder);
	}
	closedir(dir);
	return err;
}

int cache_each(struct cache_dir *c, cache_fn fn, void *arg)
{
	int fd = openat(c->fd, ".build-id", O_RDONLY | O_DIRECTORY | O_CLOEXEC), err = 0;
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *d;

	if (!dir) {
		if (fd >= 0)
			close(fd);
		return fd < 0 && errno == ENOENT ? 0 : -errno;
	}
	while (!err && (d = readdir(dir)))
		if (strlen(d->d_name) == 2 && strspn(d->d_name, "0123456789abcdef") == 2)
			err = each_with_prefix(c, d->d_name, fn, arg);
	closedir(dir);
	return err;
}
