/*
 * Opening an input file. A regular file is mapped; anything else (pipe, terminal, socket) is read in blocks.
 * Pages of the mapping are released as reading proceeds, so a file of any size is read with a small resident
 * set. A file may be truncated, or overwritten, while it is mapped: base/file_map.h. Zero bytes follow the mapping, so that
 * a record whose size has grown since it was checked does not lead out of it.
 */
#include "perfdata/perfdata.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

static int check_owner(const struct stat *st, const char *path, bool force, struct tacho_error *e)
{
	if (force || st->st_uid == 0 || st->st_uid == geteuid() || !S_ISREG(st->st_mode))
		return 0;
	error_set(e, -EACCES, "%s belongs to another user (uid %u)", path, (unsigned)st->st_uid);
	error_hint(e, "use -f to read it anyway");
	return -EACCES;
}

static int map_file(struct input_file *f, const struct stat *st, struct tacho_error *e)
{
	int err;

	if (st->st_size == 0)
		return error_set(e, -ENODATA, "%s is empty", f->path);
	err = file_map_open(&f->mapping, f->fd, (size_t)st->st_size, RECORD_MAX + 1);
	if (err < 0)
		return error_set(e, err, "cannot map %s: %s", f->path, strerror(-err));
	f->map = f->mapping.at;
	madvise((void *)f->map, (size_t)st->st_size, MADV_SEQUENTIAL);
	f->size = (uint64_t)st->st_size;
	close(f->fd);
	f->fd = -1;
	return 0;
}

int check_regular_file(const char *path, struct tacho_error *e)
{
	struct stat st;

	if (stat(path, &st) < 0 || S_ISREG(st.st_mode))
		return 0;
	return error_set(e, -EINVAL, "%s is not a regular file", path);
}

int input_file_open(struct input_file *f, const char *path, const struct tacho_perfdata_opts *opts,
	      struct tacho_error *e)
{
	bool is_stdin = strcmp(path, "-") == 0;
	struct stat st;
	int err;

	*f = (struct input_file){ .fd = -1 };
	f->path = str_dup(str_of(is_stdin ? "standard input" : path));
	if (!f->path)
		return error_nomem(e);
	f->fd = is_stdin ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3) :
			   open(path, O_RDONLY | O_CLOEXEC);
	if (f->fd < 0 || fstat(f->fd, &st) < 0) {
		err = -errno;
		error_set(e, err, "cannot open %s: %s", f->path, strerror(-err));
		if (err == -ENOENT)
			error_hint(e, "'tacho record' creates one");
		return err;
	}
	err = is_stdin ? 0 : check_owner(&st, path, opts && opts->force, e);
	if (err < 0)
		return err;
	if (S_ISDIR(st.st_mode))
		return error_set(e, -EISDIR, "%s is a directory", f->path);
	f->mtime_s = (uint64_t)st.st_mtime;
	if (S_ISREG(st.st_mode) && (!is_stdin || lseek(f->fd, 0, SEEK_CUR) == 0))
		return map_file(f, &st, e);
	return 0;
}

void input_file_close(struct input_file *f)
{
	file_map_close(&f->mapping);
	if (f->fd >= 0)
		close(f->fd);
	free(f->path);
	*f = (struct input_file){ .fd = -1 };
}

void input_file_drop_pages(struct input_file *f, uint64_t offset)
{
	uint64_t to = offset & ~(uint64_t)(DROP_BYTES - 1);

	if (!f->map || to <= f->dropped || to > f->size)
		return;
	madvise((uint8_t *)f->map + f->dropped, to - f->dropped, MADV_DONTNEED);
	f->dropped = to;
}
