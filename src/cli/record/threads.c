/*
 * `record --threads`: the rings of samples are emptied by several threads, each ring into a file
 * of its own, data.N beside `data` in a directory. The main thread keeps the rings of maps and
 * tasks, the header and the clock.
 *
 *	main      stop_fd ------> threads: the last drain, then the end
 *	threads   failed_fd ----> main: one could not write
 */
#include "cli/record/record.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <time.h>

#define TICK_MS 1000

struct record_thread {
	struct record_threads *all;
	size_t number;
	pthread_t id;
	bool runs;
	int err;
	struct tacho_error error;
};

static int write_ring(void *arg, size_t ring, const void *bytes, size_t n)
{
	struct record_thread *me = arg;
	struct record_stream *to = &me->all->streams[ring];
	int err = tacho_writer_records(to->writer, bytes, n, &me->error);

	__atomic_store_n(&to->owner, me, __ATOMIC_RELAXED);
	__atomic_store_n(&to->bytes, tacho_writer_bytes(to->writer), __ATOMIC_RELAXED);
	return err;
}

/* What waits in the thread's writers goes out once a second, so that a kill does not cost it. */
static int flush_own(struct record_thread *me, struct timespec *last)
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

static void *run(void *arg)
{
	struct record_thread *me = arg;
	struct record_threads *all = me->all;
	struct pollfd fds[2] = {
		{ .fd = tacho_sampler_reader_fd(all->sampler, me->number), .events = POLLIN },
		{ .fd = all->stop_fd, .events = POLLIN },
	};
	struct timespec flushed = { 0 };
	int64_t got = 0;

	/* Where it may not run there, it runs elsewhere. */
	tacho_sampler_reader_pin(all->sampler, me->number);
	while (got >= 0 && !fds[1].revents) {
		if (poll(fds, countof(fds), TICK_MS) < 0 && errno != EINTR)
			break;
		__atomic_fetch_add(&all->n_wakeups, fds[0].revents != 0, __ATOMIC_RELAXED);
		got = tacho_sampler_reader_drain(all->sampler, me->number, write_ring, me);
		if (got >= 0)
			got = flush_own(me, &flushed);
	}
	if (got < 0) {
		me->err = (int)got;
		wake(all->failed_fd);
	}
	return NULL;
}

static int open_stream(struct record_stream *st, const char *dir, size_t i, int level)
{
	const struct tacho_writer_opts opts = { .size = sizeof(opts), .compress_level = level,
						.bare = true };
	scoped(buf_done) struct buf path = { 0 };
	struct tacho_error e = { .column = -1 };
	int err;

	buf_printf(&path, "%s/data.%zu", dir, i);
	if (buf_failed(&path))
		return -ENOMEM;
	st->fd = open(path.bytes, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (st->fd < 0) {
		err = -errno;
		message_text("record", "cannot write '%s': %s", path.bytes, strerror(-err));
		return err;
	}
	err = tacho_writer_open(&st->writer, st->fd, &opts, &e);
	return err < 0 ? err : tacho_writer_begin(st->writer, &e);
}

static int open_streams(struct record_threads *t, const char *dir, int level)
{
	int err = 0;

	t->n_streams = tacho_sampler_n_rings(t->sampler);
	t->streams = calloc(t->n_streams + 1, sizeof(*t->streams));
	if (!t->streams) {
		t->n_streams = 0;
		return -ENOMEM;
	}
	for (size_t i = 0; i < t->n_streams; i++)
		t->streams[i].fd = -1;
	for (size_t i = 0; err == 0 && i < t->n_streams; i++)
		err = open_stream(&t->streams[i], dir, i, level);
	return err;
}

/* Signals are the main thread's. */
static int start_all(struct record_threads *t)
{
	sigset_t all, before;
	int err = 0;

	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &before);
	for (size_t i = 0; err == 0 && i < t->n; i++) {
		struct record_thread *one = &t->v[i];

		*one = (struct record_thread){ .all = t, .number = i, .error.column = -1 };
		err = pthread_create(&one->id, NULL, run, one);
		one->runs = err == 0;
	}
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (err)
		message_text("record", "a thread could not be started: %s", strerror(err));
	return -err;
}

int record_threads_start(struct record_threads *t, const char *layout, const char *dir,
			 int compress_level)
{
	struct tacho_error e = { .column = -1 };
	int err = tacho_sampler_split(t->sampler, layout, &e);

	if (err < 0) {
		message_error("record", "--threads", layout, &e);
		return err;
	}
	t->n = (size_t)err;
	t->v = calloc(t->n + 1, sizeof(*t->v));
	t->stop_fd = eventfd(0, EFD_CLOEXEC);
	t->failed_fd = eventfd(0, EFD_CLOEXEC);
	if (!t->v || t->stop_fd < 0 || t->failed_fd < 0)
		err = t->v ? -errno : -ENOMEM;
	else
		err = open_streams(t, dir, compress_level);
	return err < 0 ? err : start_all(t);
}

static int finish_streams(struct record_threads *t, int first)
{
	for (size_t i = 0; i < t->n_streams; i++) {
		struct record_stream *st = &t->streams[i];
		struct tacho_error e = { .column = -1 };
		int err = st->writer ? tacho_writer_finish(st->writer, &e) : 0;

		if (st->writer)
			st->bytes = tacho_writer_bytes(st->writer);
		tacho_writer_free(take(st->writer));
		if (err < 0 && first == 0) {
			first = err;
			message_error("record", NULL, NULL, &e);
		}
	}
	return first;
}

int record_threads_stop(struct record_threads *t)
{
	int first = 0;

	if (!t->v)
		return 0;
	wake(t->stop_fd);
	for (size_t i = 0; i < t->n; i++) {
		struct record_thread *one = &t->v[i];

		if (one->runs)
			pthread_join(one->id, NULL);
		one->runs = false;
		if (one->err < 0 && first == 0) {
			first = one->err;
			if (one->error.message[0])
				message_error("record", NULL, NULL, &one->error);
			else
				message_text("record", "a ring buffer could not be read: %s", strerror(-first));
		}
	}
	free(take(t->v));
	return finish_streams(t, first);
}

uint64_t record_threads_bytes(const struct record_threads *t)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < t->n_streams; i++)
		sum += __atomic_load_n(&t->streams[i].bytes, __ATOMIC_RELAXED);
	return sum;
}

void record_threads_done(struct record_threads *t)
{
	record_threads_stop(t);
	for (size_t i = 0; i < t->n_streams; i++)
		if (t->streams[i].fd >= 0)
			close(t->streams[i].fd);
	free(take(t->streams));
	t->n_streams = 0;
	if (t->stop_fd >= 0)
		close(t->stop_fd);
	if (t->failed_fd >= 0)
		close(t->failed_fd);
}
