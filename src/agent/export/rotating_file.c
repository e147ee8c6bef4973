/*
 * Rotating files. A write that fails halfway (a full disk) is undone, so that the whole body can be
 * retried; a partial line left by a crash is cut off when the file is opened.
 */
#include "agent/export/rotating_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/io.h"

#define LINE_MAX_BYTES 65536
#define PIPE_CHUNK 4096			/* bytes that a pipe accepts when poll() reports it writable */

struct rotating_file {
	const struct rotating_file_settings *settings;
	const struct push_settings *push;
	const struct exporter_env *env;
	const char *header;
	int fd;				/* -1: not open */
	bool is_stdout, has_header;
	uint64_t bytes;
	int64_t period;			/* time of the last write, in units of `every` */
	size_t done;			/* stdout: bytes of the current body already written */
	int64_t done_of_ns;
};

/* Cuts off the text after the last line end, if there is one near the end. */
static int cut_partial_line(int fd, uint64_t *size)
{
	char tail[LINE_MAX_BYTES];
	size_t n = (size_t)min_of(*size, (uint64_t)sizeof(tail));
	ssize_t got = n ? pread(fd, tail, n, (off_t)(*size - n)) : 0;
	const char *end = got > 0 ? memrchr(tail, '\n', (size_t)got) : NULL;
	uint64_t whole = end ? *size - n + (uint64_t)(end + 1 - tail) : *size == n ? 0 : *size;

	if (got < 0)
		return -errno;
	if (whole == *size)
		return 0;
	*size = whole;
	return ftruncate(fd, (off_t)whole) < 0 ? -errno : 0;
}

static int64_t period_of(const struct rotating_file *r, int64_t ns)
{
	return r->settings->every_ns ? ns / (int64_t)r->settings->every_ns : 0;
}

/* Links are not followed: in a directory of other users, they would lead to any file that the agent may write. */
static int open_file(struct rotating_file *r)
{
	struct stat st;
	uint64_t size;
	int err, fd = open(r->settings->path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW, 0644);

	if (fd < 0)
		return -errno;
	err = fstat(fd, &st) < 0 ? -errno : !S_ISREG(st.st_mode) ? -EINVAL : st.st_nlink > 1 ? -EMLINK : 0;
	size = err ? 0 : (uint64_t)st.st_size;
	if (!err)
		err = cut_partial_line(fd, &size);
	if (err < 0) {
		close(fd);
		return err;
	}
	r->fd = fd;
	r->bytes = size;
	r->period = period_of(r, size ? (int64_t)st.st_mtim.tv_sec * 1000000000 : clock_wall_ns());
	return 0;
}

int rotating_file_open(struct rotating_file **out, const struct rotating_file_settings *s,
		       const struct push_settings *push, const struct exporter_env *env,
		       const char *header, struct tacho_error *e)
{
	struct rotating_file *r = calloc(1, sizeof(*r));
	int err = 0;

	if (!r)
		return error_nomem(e);
	*r = (struct rotating_file){ .settings = s, .push = push, .env = env, .header = header, .fd = -1 };
	if (!strcmp(s->path, "-")) {
		r->is_stdout = true;
		r->fd = STDOUT_FILENO;
	} else {
		err = open_file(r);
	}
	if (err < 0) {
		free(r);
		return error_set(e, err, "cannot write to %.200s: %s", s->path,
				 err == -EINVAL ? "it is not a regular file" : err == -ELOOP ? "it is a symbolic link" :
				 err == -EMLINK ? "the file has other names (hard links)" : strerror(-err));
	}
	*out = r;
	return 0;
}

void rotating_file_close(struct rotating_file *r)
{
	if (r && !r->is_stdout && r->fd >= 0) {
		if (r->settings->sync != SYNC_NEVER)
			fsync(r->fd);
		close(r->fd);
	}
	free(r);
}

/* FILE.6 -> FILE.7 ... FILE -> FILE.1; the one beyond `keep` is overwritten. */
static int rotate_files(struct rotating_file *r)
{
	char from[PATH_MAX], to[PATH_MAX];

	if (r->settings->sync != SYNC_NEVER)
		fsync(r->fd);
	close(take_fd(r->fd));
	for (uint64_t i = r->settings->keep; i > 0; i--) {
		int n = i > 1 ? snprintf(from, sizeof(from), "%s.%llu", r->settings->path, (unsigned long long)i - 1)
			      : snprintf(from, sizeof(from), "%s", r->settings->path);
		int m = snprintf(to, sizeof(to), "%s.%llu", r->settings->path, (unsigned long long)i);

		if (n < 0 || m < 0 || n >= PATH_MAX || m >= PATH_MAX)
			return -ENAMETOOLONG;
		if (rename(from, to) < 0 && errno != ENOENT)
			return -errno;
	}
	if (!r->settings->keep && unlink(r->settings->path) < 0 && errno != ENOENT)
		return -errno;
	return open_file(r);
}

static bool is_rotation_due(const struct rotating_file *r, size_t more)
{
	return r->bytes && ((r->settings->max_bytes && r->bytes + more > r->settings->max_bytes) ||
			    r->period != period_of(r, clock_wall_ns()));
}

static int write_to_file(struct rotating_file *r, struct str body)
{
	uint64_t was;
	int err = r->fd < 0 ? open_file(r) : 0;

	if (!err && is_rotation_due(r, body.n))
		err = rotate_files(r);
	if (err < 0)
		return err;
	was = r->bytes;
	if (!r->bytes && r->header) {
		err = io_write_all(r->fd, r->header, strlen(r->header));
		r->bytes += strlen(r->header);
	}
	if (!err)
		err = io_write_all(r->fd, body.s, body.n);
	if (!err && r->settings->sync == SYNC_WRITE && fsync(r->fd) < 0)
		err = -errno;
	r->bytes += body.n;
	if (err < 0) {
		r->bytes = was;
		if (ftruncate(r->fd, (off_t)was) < 0)
			err = -errno;
	}
	r->period = period_of(r, clock_wall_ns());
	return err;
}

static bool is_timed_out(const struct rotating_file *r, uint64_t until_ns)
{
	uint64_t now = clock_mono_ns(), by = r->env->stop_by_ns ? *r->env->stop_by_ns : 0;

	return now > until_ns || (by && now > by);
}

/* Waits for a slow reader, at most until the timeout. A retry continues after the bytes already written. */
static int write_body_to_stdout(struct rotating_file *r, struct str body)
{
	uint64_t until_ns = clock_mono_ns() + r->push->timeout_ns;

	while (r->done < body.n) {
		struct pollfd p = { .fd = r->fd, .events = POLLOUT };
		int ready = poll(&p, 1, 250);
		ssize_t n;

		if (ready <= 0 && is_timed_out(r, until_ns))
			return -ETIMEDOUT;
		if (ready <= 0)
			continue;
		n = write(r->fd, body.s + r->done, min_of(body.n - r->done, (size_t)PIPE_CHUNK));
		if (n < 0 && errno != EAGAIN && errno != EINTR)
			return -errno;
		r->done += n > 0 ? (size_t)n : 0;
	}
	return 0;
}

static int write_to_stdout(struct rotating_file *r, const struct export_body *item)
{
	int err = 0;

	if (r->done_of_ns != item->from_ns || r->done > item->body.n)
		r->done = 0;
	r->done_of_ns = item->from_ns;
	if (r->header && !r->has_header)
		err = io_write_all(r->fd, r->header, strlen(r->header));
	r->has_header = r->has_header || !err;
	if (!err)
		err = write_body_to_stdout(r, item->body);
	if (!err)
		r->done = 0;
	return err;
}

enum send_result rotating_file_write(struct rotating_file *r, const struct export_body *item,
				     struct send_reply *reply)
{
	int err = r->is_stdout ? write_to_stdout(r, item) : write_to_file(r, item->body);

	if (!err)
		return SEND_DONE;
	snprintf(reply->text, sizeof(reply->text), "cannot write to %.150s: %s",
		 r->is_stdout ? "stdout" : r->settings->path, strerror(-err));
	return SEND_RETRY;
}
