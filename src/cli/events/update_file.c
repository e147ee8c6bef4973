/*
 * Fetches one file from the source into the directory.
 *
 *	NAME.part	the incomplete file	NAME.part.tag	ETag of the complete file
 *	NAME		the file		NAME.tag	its size and ETag: "48211 "5a3c...""
 *
 * An interrupted transfer is resumed, a few times immediately and otherwise by the next update. The old file
 * is replaced by rename() after the new one is complete and checked.
 */
#include "cli/events/update.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/io.h"
#include "base/num.h"

#define FILE_LIMIT (32u << 20)
#define ATTEMPTS 5

struct file_transfer {
	const struct update_source *s;
	struct update_file *file;
	char path[PATH_MAX], part[PATH_MAX], tag_path[PATH_MAX], part_tag_path[PATH_MAX];
	char tag[FETCH_TAG_MAX], part_tag[FETCH_TAG_MAX];
	int fd;
};

static bool join(char *out, const char *a, const char *b, const char *end)
{
	int n = snprintf(out, PATH_MAX, "%s%s%s%s", a, *b ? "/" : "", b, end);

	return n > 0 && n < PATH_MAX;
}

/* Reads a file "SIZE TAG". If it is not a single line of text, the tag is empty. */
static void read_tag(const char *path, char *out, uint64_t *size)
{
	char line[FETCH_TAG_MAX + 24];
	int n = io_read_small(AT_FDCWD, path, line, sizeof(line));
	struct str rest = str_n(line, (size_t)max_of(n, 0)), number;

	out[0] = '\0';
	*size = 0;
	if (n <= 0 || !str_is_printable(rest) || !str_cut(&rest, ' ', &number) || !rest.s ||
	    rest.n >= FETCH_TAG_MAX || num_u64(number, size) < 0)
		return;
	snprintf(out, FETCH_TAG_MAX, "%.*s", STR(rest));
}

static void write_tag(const char *path, const char *tag, uint64_t size)
{
	scoped(closep) int fd = -1;

	unlink(path);
	if (!*tag)
		return;
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	/* An error is harmless: the next update transfers the file again. */
	if (fd >= 0 && dprintf(fd, "%llu %s\n", (unsigned long long)size, tag) < 0)
		unlink(path);
}

static uint64_t size_of(const char *path)
{
	struct stat st;

	return lstat(path, &st) == 0 && S_ISREG(st.st_mode) ? (uint64_t)st.st_size : 0;
}

static int open_part(struct file_transfer *x, struct tacho_error *e)
{
	int err = io_make_parent_dirs(x->part, 0755);

	x->fd = err < 0 ? -1 : open(x->part, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644);
	if (x->fd < 0) {
		err = err < 0 ? err : -errno;
		return error_set(e, err, "'%.300s' cannot be written: %s", x->part, strerror(-err));
	}
	return 0;
}

static void delete_part(struct file_transfer *x)
{
	unlink(x->part);
	unlink(x->part_tag_path);
}

/* ---- from a server ---- */

static void report_progress(void *arg, uint64_t done, uint64_t total)
{
	struct file_transfer *x = arg;

	if (x->s->progress)
		x->s->progress(x->s->arg, x->file->name, done, total);
}

static int attempt(struct file_transfer *x, const char *url, struct fetch_job *job, struct tacho_error *e)
{
	uint64_t have = size_of(x->part);
	int err;

	*job = (struct fetch_job){ .url = url, .fd = x->fd, .limit = FILE_LIMIT, .tag = x->part_tag,
				   .unless = x->tag, .progress = report_progress, .arg = x };
	/* Resume only if the tag of the partial file is known. */
	if (have && x->part_tag[0])
		job->have = have;
	err = fetch_get(x->s->fetch, job, e);
	/* A 206 response may omit the ETag, which is then that of the request. */
	if (job->new_tag[0] || !job->have) {
		memcpy(x->part_tag, job->new_tag, sizeof(x->part_tag));
		write_tag(x->part_tag_path, x->part_tag, 0);
	}
	if (err == -ESTALE) {
		x->part_tag[0] = '\0';
		unlink(x->part_tag_path);
		if (ftruncate(x->fd, 0) < 0)
			return error_set(e, -errno, "'%.300s': %s", x->part, strerror(errno));
	}
	return err;
}

static void sleep_before_retry(unsigned n)
{
	const struct timespec t = { .tv_nsec = (long)min_of(50u << n, 800u) * 1000000 };

	nanosleep(&t, NULL);
}

static int fetch_part(struct file_transfer *x, struct tacho_error *e)
{
	struct fetch_job job;
	char url[PATH_MAX];
	uint64_t ignored;
	int err = -EAGAIN;

	if (!join(url, x->s->from, x->file->name, ""))
		return error_set(e, -ENAMETOOLONG, "the URL of a list is too long");
	read_tag(x->part_tag_path, x->part_tag, &ignored);
	for (unsigned n = 0; n < ATTEMPTS && (err == -EAGAIN || err == -ESTALE); n++) {
		if (n)
			sleep_before_retry(n);
		err = attempt(x, url, &job, e);
	}
	x->file->unchanged = !err && job.unchanged;
	/* Delete the partial file unless the next update can resume it. */
	if (err && (!x->part_tag[0] || (err != -EAGAIN && err != -EHOSTUNREACH)))
		delete_part(x);
	return err;
}

/* ---- from a directory ---- */

static bool same_as(const char *path, struct str bytes)
{
	struct buf there = { 0 };
	bool same = io_read(path, FILE_LIMIT, &there) == 0 && str_eq(buf_view(&there), bytes);

	buf_done(&there);
	return same;
}

static int copy_part(struct file_transfer *x, struct tacho_error *e)
{
	struct buf bytes = { 0 };
	char path[PATH_MAX];
	int err = join(path, x->s->from, x->file->name, "") ? 0 : -ENAMETOOLONG;

	if (!err)
		err = io_read(path, FILE_LIMIT, &bytes);
	if (err < 0) {
		error_set(e, err, "'%.300s': %s", path, strerror(-err));
	} else if (same_as(x->path, buf_view(&bytes))) {
		x->file->unchanged = true;
	} else if (ftruncate(x->fd, 0) < 0 || lseek(x->fd, 0, SEEK_SET) < 0 ||
		   (err = io_write_all(x->fd, bytes.bytes, bytes.n)) < 0) {
		err = err ? err : -errno;
		error_set(e, err, "'%.300s': %s", x->part, strerror(-err));
	}
	buf_done(&bytes);
	if (err)
		delete_part(x);
	return err;
}

/* ---- checking and installing ---- */

static int check_part(struct file_transfer *x, struct tacho_error *e)
{
	struct buf bytes = { 0 };
	struct tacho_error inner = { .column = -1 };
	int err = io_read(x->part, FILE_LIMIT, &bytes);

	if (err < 0)
		error_set(&inner, err, "%s", strerror(-err));
	else if (!bytes.n)
		err = error_set(&inner, -EBADMSG, "it is empty");
	else if (x->file->json)
		err = update_check_json(bytes.bytes, bytes.n, x->file->events, &inner);
	x->file->bytes = bytes.n;
	buf_done(&bytes);
	if (!err)
		return 0;
	delete_part(x);
	error_set(e, err, "%.200s/%.200s: %.200s", x->s->shown, x->file->name, inner.message);
	if (err == -EBADMSG)
		error_hint(e, "the existing file is kept; does a proxy answer instead of the server?");
	return err;
}

static int install(struct file_transfer *x, struct tacho_error *e)
{
	unlink(x->tag_path);	/* first, so that the new file never has the old tag */
	if (fsync(x->fd) < 0 || fchmod(x->fd, 0644) < 0 || rename(x->part, x->path) < 0)
		return error_set(e, -errno, "'%.300s' cannot be replaced: %s", x->path, strerror(errno));
	unlink(x->part_tag_path);
	write_tag(x->tag_path, x->part_tag, x->file->bytes);
	return 0;
}

static int transfer(struct file_transfer *x, struct tacho_error *e)
{
	uint64_t size;
	int err;

	read_tag(x->tag_path, x->tag, &size);
	x->file->bytes = size_of(x->path);
	if (size != x->file->bytes)	/* the file was changed after the last update */
		x->tag[0] = '\0';
	err = open_part(x, e);
	if (!err)
		err = x->s->fetch ? fetch_part(x, e) : copy_part(x, e);
	if (!err && x->file->unchanged) {
		delete_part(x);
		return 0;
	}
	if (!err)
		err = check_part(x, e);
	return err ? err : install(x, e);
}

int update_take(const struct update_source *s, const char *dir, struct update_file *file,
		struct tacho_error *e)
{
	struct file_transfer *x = calloc(1, sizeof(*x));
	const char *as = file->as ? file->as : file->name;
	int err;

	if (!x)
		return error_nomem(e);
	x->s = s;
	x->file = file;
	x->fd = -1;
	file->unchanged = false;
	if (join(x->path, dir, as, "") && join(x->part, dir, as, ".part") && join(x->tag_path, dir, as, ".tag") &&
	    join(x->part_tag_path, dir, as, ".part.tag"))
		err = transfer(x, e);
	else
		err = error_set(e, -ENAMETOOLONG, "the path of the directory is too long");
	if (x->fd >= 0)
		close(x->fd);
	free(x);
	return err;
}
