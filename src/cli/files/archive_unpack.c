/*
 * Unpacking into the cache of objects. An archive may come from anywhere: names that lead out of the
 * cache are refused, no link is followed on the way to a file, and the only links that are made
 * are those of build ids to folders of the cache.
 */
#include "cli/files/archive.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/mman.h>

#include "base/error.h"
#include "base/io.h"
#include "cli/core/compressor.h"
#include "cli/files/tar.h"

static bool is_inside(const char *name)
{
	struct str rest = str_of(name), part;

	if (!*name || *name == '/')
		return false;
	while (str_cut(&rest, '/', &part))
		if (str_is(part, ".."))
			return false;
	return true;
}

/* The folder a name lies in, made where it is missing; *last is what follows it. */
static int open_parent(int dir, const char *name, const char **last)
{
	int at = fcntl(dir, F_DUPFD_CLOEXEC, 3);

	for (;;) {
		const char *slash = strchr(name, '/');
		char part[NAME_MAX + 1];
		int next;

		if (at < 0 || !slash || !slash[1]) {
			*last = name;
			return at < 0 ? -errno : at;
		}
		if (slash - name > NAME_MAX) {
			close(at);
			return -ENAMETOOLONG;
		}
		memcpy(part, name, (size_t)(slash - name));
		part[slash - name] = '\0';
		name = slash + 1;
		if (!part[0])
			continue;
		if (mkdirat(at, part, 0755) < 0 && errno != EEXIST)
			next = -1;
		else
			next = openat(at, part, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (next < 0)
			next = -errno;
		close(at);
		if (next < 0)
			return next;
		at = next;
	}
}

static int copy_out(struct tar_in *in, int fd)
{
	char bytes[1 << 16];
	ssize_t got;
	int err = 0;

	while (err == 0 && (got = tar_read(in, bytes, sizeof(bytes))) != 0)
		err = got < 0 ? (int)got : io_write_all(fd, bytes, (size_t)got);
	return err;
}

/* What is there already is the same, by its id, and stays. */
static int put_file(int dir, struct tar_in *in, const struct tar_entry *entry, struct unpacked *done)
{
	const char *last;
	scoped(closep) int parent = open_parent(dir, entry->name, &last);
	scoped(closep) int fd = -1;
	int err;

	if (parent < 0)
		return take_fd(parent);
	fd = openat(parent, last, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, entry->mode | 0400);
	if (fd < 0 && errno == EEXIST) {
		done->kept++;
		return 0;
	}
	if (fd < 0)
		return -errno;
	err = copy_out(in, fd);
	if (err < 0)
		unlinkat(parent, last, 0);
	done->objects += err == 0;
	return err;
}

/* ".build-id/15/df..." -> "../../usr/bin/ls/15df..." */
static int put_link(int dir, const struct tar_entry *entry)
{
	const char *last;
	scoped(closep) int parent = -1;

	if (strncmp(entry->name, ".build-id/", 10) != 0 || strncmp(entry->target, "../../", 6) != 0 ||
	    !is_inside(entry->target + 6))
		return -EXDEV;
	parent = open_parent(dir, entry->name, &last);
	if (parent < 0)
		return take_fd(parent);
	if (faccessat(parent, last, F_OK, 0) < 0)
		unlinkat(parent, last, 0);	/* one that leads nowhere */
	return symlinkat(entry->target, parent, last) < 0 && errno != EEXIST ? -errno : 0;
}

static int put_dir(int dir, const struct tar_entry *entry)
{
	const char *last;
	scoped(closep) int parent = open_parent(dir, entry->name, &last);
	char name[NAME_MAX + 1];
	size_t n;

	if (parent < 0)
		return take_fd(parent);
	n = strcspn(last, "/");
	if (n > NAME_MAX)
		return -ENAMETOOLONG;
	memcpy(name, last, n);
	name[n] = '\0';
	return n && strcmp(name, ".") != 0 && mkdirat(parent, name, 0755) < 0 && errno != EEXIST ? -errno : 0;
}

static int put_entry(int dir, struct tar_in *in, const struct tar_entry *entry, struct unpacked *done)
{
	if (!is_inside(entry->name))
		return -EXDEV;
	switch (entry->type) {
	case '0': return put_file(dir, in, entry, done);
	case '2': return put_link(dir, entry);
	case '5': return put_dir(dir, entry);
	default: return -EXDEV;
	}
}

static int entry_failed(const char *path, const struct tar_entry *entry, int err, struct tacho_error *e)
{
	if (err == -EXDEV)
		return error_set(e, -EBADMSG, "'%s' has an entry '%s' that does not belong into the cache of "
				 "objects; nothing more is unpacked", path, entry->name);
	return error_set(e, err, "cannot unpack '%s': %s", entry->name,
			 err == -ENODATA ? "the archive is cut off" : strerror(-err));
}

static int start(struct filter *f, int fd, const char *path, struct tacho_error *e)
{
	unsigned char head[8];
	ssize_t n = pread(fd, head, sizeof(head), 0);
	int err = n < 0 ? -errno : filter_unpack(f, filter_for_bytes(head, (size_t)n), fd);

	return err < 0 ? error_set(e, err, "cannot read '%s': %s", path, strerror(-err)) : 0;
}

/* What follows the archive's end is padding; a packer that cannot get rid of it fails. */
static void drain(int fd)
{
	char bytes[4096];
	ssize_t got;

	do
		got = read(fd, bytes, sizeof(bytes));
	while (got > 0 || (got < 0 && errno == EINTR));
}

static int finish(struct filter *f, const char *path, int err, struct tacho_error *e)
{
	int ended;

	if (err == 0)
		drain(f->fd);
	ended = filter_end(f);

	/* An archive that is told to be damaged was given up on: its packer's end says nothing then. */
	if (err < 0 || ended == 0)
		return err;
	error_set(e, ended, "'%s' could not unpack '%s'", f->program, path);
	error_hint(e, "is it installed, and is the file whole?");
	return ended;
}

static int unpack_objects(int fd, const char *path, struct cache_dir *cache, struct unpacked *done,
			  struct tacho_error *e)
{
	struct tar_in in = { 0 };
	struct tar_entry entry;
	struct filter f = { .fd = -1, .pid = -1 };
	int err = start(&f, fd, path, e), next = 0;

	if (err < 0)
		return err;
	in.fd = f.fd;
	while (err == 0 && (next = tar_next(&in, &entry)) > 0) {
		err = put_entry(cache->fd, &in, &entry, done);
		if (err < 0)
			err = entry_failed(path, &entry, err, e);
	}
	if (err == 0 && next < 0)
		err = error_set(e, next, "'%s' is no whole tar archive", path);
	tar_done(&in);
	return finish(&f, path, err, e);
}

/* The recording of an archive of --all goes where we are. */
static int put_recording(struct tar_in *in, const struct tar_entry *entry, bool force,
			 struct unpacked *done, struct tacho_error *e)
{
	scoped(closep) int fd = -1;
	int err;

	if (strchr(entry->name, '/') || !is_inside(entry->name))
		return error_set(e, -EBADMSG, "the archive has a recording '%s', which is no plain name",
				 entry->name);
	if (force)
		io_discard(entry->name);
	fd = open(entry->name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0 && errno == EEXIST) {
		error_set(e, -EEXIST, "'%s' is there already", entry->name);
		error_hint(e, "--force writes over it");
		return -EEXIST;
	}
	err = fd < 0 ? -errno : copy_out(in, fd);
	if (err < 0 && fd >= 0)
		io_discard(entry->name);
	if (err == 0) {
		free(done->recording);
		done->recording = str_dup(str_of(entry->name));
	}
	return err < 0 ? entry_failed("", entry, err, e) : 0;
}

/* An archive of --all: the first archive has the recording and another archive. */
static int unpack_all(int fd, const char *path, const struct archive_opts *o, struct cache_dir *cache,
		      struct unpacked *done, struct tacho_error *e)
{
	scoped(closep) int inner = -1;
	struct tar_in in = { 0 };
	struct tar_entry entry;
	struct filter f = { .fd = -1, .pid = -1 };
	int err = start(&f, fd, path, e), next = 0;

	if (err < 0)
		return err;
	in.fd = f.fd;
	while (err == 0 && (next = tar_next(&in, &entry)) > 0) {
		bool symbols = strncmp(entry.name, ARCHIVE_SYMBOLS, strlen(ARCHIVE_SYMBOLS)) == 0;

		if (entry.type != '0')
			err = entry_failed(path, &entry, -EXDEV, e);
		else if (!symbols)
			err = put_recording(&in, &entry, o->force, done, e);
		else if (inner < 0 && (inner = memfd_create("symbols", MFD_CLOEXEC)) < 0)
			err = error_set(e, -errno, "cannot unpack '%s': %s", entry.name, strerror(errno));
		else
			err = copy_out(&in, inner) < 0 ? entry_failed(path, &entry, -ENODATA, e) : 0;
	}
	if (err == 0 && next < 0)
		err = error_set(e, next, "'%s' is no whole tar archive", path);
	tar_done(&in);
	err = finish(&f, path, err, e);
	if (err == 0 && (inner < 0 || lseek(inner, 0, SEEK_SET) < 0))
		err = error_set(e, -EBADMSG, "'%s' has no archive of objects in it", path);
	return err < 0 ? err : unpack_objects(inner, path, cache, done, e);
}

/* Whether it is one of --all: its entries are plain names. */
static int is_of_all(int fd, const char *path, struct tacho_error *e)
{
	struct tar_in in = { 0 };
	struct tar_entry entry;
	struct filter f = { .fd = -1, .pid = -1 };
	int err = start(&f, fd, path, e), next;
	bool all;

	if (err < 0)
		return err;
	in.fd = f.fd;
	next = tar_next(&in, &entry);
	all = next > 0 && !strchr(entry.name, '/');
	tar_done(&in);
	filter_end(&f);
	if (next < 0)
		return error_set(e, next, "'%s' is no tar archive", path);
	return lseek(fd, 0, SEEK_SET) < 0 ? -errno : all;
}

int archive_unpack(const char *path, const struct archive_opts *o, struct cache_dir *cache,
		   struct unpacked *done, struct tacho_error *e)
{
	scoped(closep) int fd = open(path, O_RDONLY | O_CLOEXEC);
	int all;

	if (fd < 0)
		return error_set(e, -errno, "cannot open '%s': %s", path, strerror(errno));
	all = is_of_all(fd, path, e);
	if (all < 0)
		return all;
	return all ? unpack_all(fd, path, o, cache, done, e) : unpack_objects(fd, path, cache, done, e);
}
