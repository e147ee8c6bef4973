/*
 * Reader threads: the rings of samples are drained by several threads, each ring into a file of its own, data.N
 * in the output's directory. The caller's thread drains the rings of mappings and tasks and writes the
 * header.
 *
 *	caller    stop_fd ------> threads: drain once more and end
 *	threads   failed_fd ----> caller: a thread could not read or write
 */
#include "recorder/recorder.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/error.h"

#define TICK_MS 1000

struct recorder_thread {
	struct recorder_threads *all;
	size_t number;
	pthread_t id;
	bool runs;
	int err;
	struct tacho_error error;
};

static int write_ring(void *arg, size_t ring, const void *bytes, size_t n)
{
	struct recorder_thread *me = arg;
	struct recorder_stream *to = &me->all->streams[ring];
	int err = size_limit_write(me->all->limit, to->writer, &to->charged, bytes, n, &me->error);

	__atomic_store_n(&to->owner, me, __ATOMIC_RELAXED);
	__atomic_store_n(&to->bytes, tacho_writer_bytes(to->writer), __ATOMIC_RELAXED);
	return err;
}

/* Flushes the thread's writers once a second, so that at most one second is lost if the process is killed. */
static int flush_streams(struct recorder_thread *me, struct timespec *last)
{
	struct timespec now;
	int err = 0;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
	if (now.tv_sec == last->tv_sec)
		return 0;
	*last = now;
	for (size_t i = 0; err == 0 && i < me->all->n_streams; i++)
		if (__atomic_load_n(&me->all->streams[i].owner, __ATOMIC_RELAXED) == me)
			err = tacho_writer_flush(me->all->streams[i].writer, &me->error);
	return err;
}

static void wake(int fd)
{
	uint64_t one = 1;

	while (write(fd, &one, sizeof(one)) < 0 && errno == EINTR)
		;
}

static void *run_thread(void *arg)
{
	struct recorder_thread *me = arg;
	struct recorder_threads *all = me->all;
	struct pollfd fds[2] = {
		{ .fd = tacho_sampler_reader_fd(all->sampler, me->number), .events = POLLIN },
		{ .fd = all->stop_fd, .events = POLLIN },
	};
	struct timespec flushed = { 0 };
	int64_t got = 0;

	/* Not fatal: without permission the thread runs on any CPU. */
	tacho_sampler_reader_pin(all->sampler, me->number);
	while (got >= 0 && !fds[1].revents) {
		if (poll(fds, countof(fds), TICK_MS) < 0 && errno != EINTR)
			break;
		__atomic_fetch_add(&all->n_wakeups, fds[0].revents != 0, __ATOMIC_RELAXED);
		got = tacho_sampler_reader_drain(all->sampler, me->number, write_ring, me);
		if (got >= 0)
			got = flush_streams(me, &flushed);
		if (size_limit_is_reached(all->limit))
			wake(all->failed_fd);
	}
	if (got < 0) {
		me->err = (int)got;
		wake(all->failed_fd);
	}
	return NULL;
}

static int open_stream(struct recorder_stream *st, const char *dir, size_t i, int level, struct tacho_error *e)
{
	const struct tacho_writer_opts opts = { .size = sizeof(opts), .compress_level = level,
						.bare = true };
	scoped(buf_done) struct buf path = { 0 };
	int err;

	buf_printf(&path, "%s/data.%zu", dir, i);
	if (buf_failed(&path))
		return error_nomem(e);
	st->fd = open(path.bytes, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (st->fd < 0)
		return error_set(e, -errno, "cannot write '%s': %s", path.bytes, strerror(errno));
	err = tacho_writer_open(&st->writer, st->fd, &opts, e);
	return err < 0 ? err : tacho_writer_begin(st->writer, e);
}

static int open_streams(struct recorder_threads *t, const char *dir, int level, struct tacho_error *e)
{
	int err = 0;

	t->n_streams = tacho_sampler_n_rings(t->sampler);
	t->streams = calloc(t->n_streams + 1, sizeof(*t->streams));
	if (!t->streams) {
		t->n_streams = 0;
		return error_nomem(e);
	}
	for (size_t i = 0; i < t->n_streams; i++)
		t->streams[i].fd = -1;
	for (size_t i = 0; err == 0 && i < t->n_streams; i++)
		err = open_stream(&t->streams[i], dir, i, level, e);
	return err;
}

/* Starts the threads with all signals blocked: signals are for the caller's threads. */
static int start_threads(struct recorder_threads *t, struct tacho_error *e)
{
	sigset_t all, before;
	int err = 0;

	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &before);
	for (size_t i = 0; err == 0 && i < t->n; i++) {
		struct recorder_thread *one = &t->v[i];

		*one = (struct recorder_thread){ .all = t, .number = i, .error.column = -1 };
		err = pthread_create(&one->id, NULL, run_thread, one);
		one->runs = err == 0;
	}
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return err ? error_set(e, -err, "cannot start a thread: %s", strerror(err)) : 0;
}

int recorder_threads_start(struct recorder_threads *t, const char *layout, const char *dir,
			   int compress_level, struct tacho_error *e)
{
	int err = tacho_sampler_split(t->sampler, layout, e);

	if (err < 0)
		return err;
	t->n = (size_t)err;
	t->v = calloc(t->n + 1, sizeof(*t->v));
	if (!t->v)
		return error_nomem(e);
	t->stop_fd = eventfd(0, EFD_CLOEXEC);
	t->failed_fd = eventfd(0, EFD_CLOEXEC);
	if (t->stop_fd < 0 || t->failed_fd < 0)
		return error_set(e, -errno, "cannot start threads: %s", strerror(errno));
	err = open_streams(t, dir, compress_level, e);
	return err < 0 ? err : start_threads(t, e);
}

static int finish_streams(struct recorder_threads *t, int first, struct tacho_error *e)
{
	for (size_t i = 0; i < t->n_streams; i++) {
		struct recorder_stream *st = &t->streams[i];
		int err;

		if (!st->writer)
			continue;
		err = tacho_writer_finish(st->writer, first == 0 ? e : NULL);
		st->bytes = tacho_writer_bytes(st->writer);
		tacho_writer_free(take(st->writer));
		if (err < 0 && first == 0)
			first = err;
	}
	return first;
}

int recorder_threads_stop(struct recorder_threads *t, struct tacho_error *e)
{
	int first = 0;

	if (!t->v)
		return 0;
	if (t->stop_fd >= 0)
		wake(t->stop_fd);
	for (size_t i = 0; i < t->n; i++) {
		struct recorder_thread *one = &t->v[i];

		if (one->runs)
			pthread_join(one->id, NULL);
		one->runs = false;
		if (one->err == 0 || first)
			continue;
		first = one->err;
		if (one->error.message[0] && e)
			*e = one->error;
		else
			error_set(e, first, "a ring buffer could not be read: %s", strerror(-first));
	}
	free(take(t->v));
	return finish_streams(t, first, e);
}

uint64_t recorder_threads_bytes(const struct recorder_threads *t)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < t->n_streams; i++)
		sum += __atomic_load_n(&t->streams[i].bytes, __ATOMIC_RELAXED);
	return sum;
}

void recorder_threads_done(struct recorder_threads *t)
{
	recorder_threads_stop(t, NULL);
	for (size_t i = 0; i < t->n_streams; i++)
		if (t->streams[i].fd >= 0)
			close(t->streams[i].fd);
	free(take(t->streams));
	t->n_streams = 0;
	if (t->stop_fd >= 0)
		close(take_fd(t->stop_fd));
	if (t->failed_fd >= 0)
		close(take_fd(t->failed_fd));
}
