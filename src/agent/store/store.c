/*
 * The store's thread. Batches are copied into a queue; the thread encodes the points into chunks and
 * writes the chunks every few seconds in one transaction.
 *
 * If the transaction fails (a full disk), chunks remain in memory up to a limit;
 * beyond it the oldest are dropped and counted. Each flush tries again.
 */
#include "agent/store/store_internal.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/vec.h"

#define OPEN_RETRY_NS 5000000000	/* how often a store that could not be opened is tried again */
#define RETENTION_CHECK_NS 60000000000

static int64_t flush_ns(const struct store *s)
{
	return s->opts.flush_ns ? (int64_t)s->opts.flush_ns : 5000000000;
}

/* Reserves space for more points; false: limit reached or out of memory. */
static bool reserve_points(struct store *s, size_t more)
{
	size_t want = s->queued_point.n + more;
	struct queued_point *v;

	if (want <= s->queued_point.cap)
		return true;
	if (want > QUEUE_MAX_BYTES / sizeof(*v))
		return false;
	want = max_of(want, s->queued_point.cap * 2);
	v = reallocarray(s->queued_point.v, want, sizeof(*v));
	if (!v)
		return false;
	s->queued_point.v = v;
	s->queued_point.cap = want;
	return true;
}

void store_take(struct store *s, const struct point_batch *b)
{
	pthread_mutex_lock(&s->lock);
	if (reserve_points(s, b->n_points)) {
		struct queued_point *t = s->queued_point.v + s->queued_point.n;

		for (size_t i = 0; i < b->n_points; i++)
			t[i] = (struct queued_point){ b->time_ns, b->points[i] };
		s->queued_point.n += b->n_points;
	} else {
		s->status.n_points_dropped += b->n_points;
	}
	pthread_mutex_unlock(&s->lock);
}

/* ---- the thread ---- */

/* Swaps the queue with the thread's buffer. */
static void swap_queue(struct store *s)
{
	__typeof__(s->queued_point) swap;

	pthread_mutex_lock(&s->lock);
	memcpy(&swap, &s->work, sizeof(swap));
	memcpy(&s->work, &s->queued_point, sizeof(swap));
	memcpy(&s->queued_point, &swap, sizeof(swap));
	s->queued_point.n = 0;
	pthread_mutex_unlock(&s->lock);
}

static void process_points(struct store *s)
{
	uint64_t dropped = 0;

	for (size_t i = 0; i < s->work.n; i++)
		dropped += open_chunks_add(s, &s->work.v[i]) < 0;
	pthread_mutex_lock(&s->lock);
	s->status.n_points_written += s->work.n - dropped;
	s->status.n_points_dropped += dropped;
	pthread_mutex_unlock(&s->lock);
	s->work.n = 0;
}

static void deferred_done(struct deferred *d)
{
	free(d->bytes);
	for (size_t i = 0; i < countof(d->texts); i++)
		free(d->texts[i]);
}

int store_defer(struct store *s, const struct deferred *like, struct str bytes,
		const struct store_event *ev)
{
	const char *texts[] = { ev ? ev->kind : NULL, ev ? ev->name : NULL, ev ? ev->text : NULL,
				ev ? ev->path : NULL };
	struct deferred d = *like, *place = NULL;
	bool bad = false;

	d.bytes = bytes.n ? malloc(bytes.n) : NULL;
	d.n_bytes = bytes.n;
	if (d.bytes)
		memcpy(d.bytes, bytes.s, bytes.n);
	for (size_t i = 0; i < countof(texts); i++) {
		d.texts[i] = texts[i] ? strdup(texts[i]) : NULL;
		bad = bad || (texts[i] && !d.texts[i]);
	}
	bad = bad || (bytes.n && !d.bytes);
	pthread_mutex_lock(&s->lock);
	if (!bad && s->deferred_bytes + bytes.n <= pending_max(s))
		place = vec_add(&s->deferred);
	if (place) {
		*place = d;
		s->deferred_bytes += bytes.n;
	} else {
		s->status.n_points_dropped++;
	}
	pthread_mutex_unlock(&s->lock);
	if (!place)
		deferred_done(&d);
	return place ? 0 : -ENOSPC;
}

/* Writes the items deferred so far; *n is their number. The caller removes them after the commit. */
static int write_deferred(struct store *s, size_t *n)
{
	int err = 0;

	pthread_mutex_lock(&s->lock);
	*n = s->deferred.n;
	pthread_mutex_unlock(&s->lock);
	for (size_t i = 0; err == 0 && i < *n; i++) {
		struct deferred d;

		pthread_mutex_lock(&s->lock);
		d = s->deferred.v[i];
		pthread_mutex_unlock(&s->lock);
		err = sql_write_deferred(s, &d);
	}
	return err;
}

static void remove_deferred(struct store *s, size_t n)
{
	if (n == 0)
		return;
	pthread_mutex_lock(&s->lock);
	for (size_t i = 0; i < n; i++) {
		s->deferred_bytes -= s->deferred.v[i].n_bytes;
		deferred_done(&s->deferred.v[i]);
	}
	memmove(s->deferred.v, s->deferred.v + n, (s->deferred.n - n) * sizeof(*s->deferred.v));
	s->deferred.n -= n;
	pthread_mutex_unlock(&s->lock);
}

static int write_out(struct store *s)
{
	size_t n = 0;
	int err = sql_begin(s);

	if (err < 0)
		return err;
	err = open_chunks_write(s);
	if (err == 0)
		err = write_deferred(s, &n);
	if (sql_end(s, err == 0) < 0 || err < 0)
		return err < 0 ? err : -EIO;
	open_chunks_written(s);
	remove_deferred(s, n);
	return 0;
}

static void apply_retention(struct store *s)
{
	int64_t now = clock_wall_ns(), mono = (int64_t)clock_mono_ns();

	if (mono - s->retention_ns < RETENTION_CHECK_NS)
		return;
	s->retention_ns = mono;
	sql_apply_retention(s, now);
	open_chunks_expire(s, now - IDLE_NS);
}

static void update_status(struct store *s, int err, uint64_t took_ns)
{
	uint64_t bytes = sql_bytes(s);
	bool recovered;

	pthread_mutex_lock(&s->lock);
	s->status.bytes = bytes;
	s->status.flush_s = (double)took_ns * 1e-9;
	s->status.n_flushes++;
	recovered = err == 0 && s->status.last_error[0];
	if (err == 0)
		s->status.last_error[0] = '\0';
	s->flush_result = err;
	pthread_mutex_unlock(&s->lock);
	if (recovered && s->opts.log)
		s->opts.log(s->opts.log_arg, TACHO_LOG_INFO, "the store can be written again");
}

static void set_error(struct store *s, const char *text)
{
	pthread_mutex_lock(&s->lock);
	snprintf(s->status.last_error, sizeof(s->status.last_error), "%.250s", text);
	pthread_mutex_unlock(&s->lock);
}

/* Tries again to open a store that could not be opened at the start. Until then points wait in memory. */
static void open_again(struct store *s)
{
	struct tacho_error e = { .column = -1 };
	int64_t now = (int64_t)clock_mono_ns();
	int err;

	if (!s->unopened || now < s->open_after_ns)
		return;
	s->open_after_ns = now + OPEN_RETRY_NS;
	pthread_mutex_lock(&s->read_lock);
	err = sql_open(s, &e);
	pthread_mutex_unlock(&s->read_lock);
	s->unopened = err < 0;
	if (err < 0)
		set_error(s, e.message);
}

static void flush(struct store *s)
{
	uint64_t start_thread = clock_mono_ns();
	int err = -EIO;

	open_again(s);
	if (!s->checked && s->db) {
		salvage_check(s);
		s->checked = true;
	}
	s->damaged = atomic_exchange(&s->read_damage, false) || s->damaged;
	salvage_if_damaged(s);
	if (s->db) {
		swap_queue(s);
		open_chunks_look_up_new(s);
		process_points(s);
		err = write_out(s);
		if (err < 0)
			open_chunks_enforce_limit(s);
		apply_retention(s);
	}
	update_status(s, err, clock_mono_ns() - start_thread);
}

static void wait_until(struct store *s, int64_t until_ns)
{
	struct timespec ts = { .tv_sec = until_ns / 1000000000, .tv_nsec = until_ns % 1000000000 };

	pthread_mutex_lock(&s->lock);
	while (!s->stopping && s->wanted_flush == s->done_flush &&
	       (int64_t)clock_mono_ns() < until_ns)
		pthread_cond_timedwait(&s->wake, &s->lock, &ts);
	pthread_mutex_unlock(&s->lock);
}

static void *store_thread(void *arg)
{
	struct store *s = arg;
	bool over = false;

	while (!over) {
		uint64_t wanted;

		wait_until(s, (int64_t)clock_mono_ns() + flush_ns(s));
		pthread_mutex_lock(&s->lock);
		wanted = s->wanted_flush;
		over = s->stopping;
		pthread_mutex_unlock(&s->lock);
		flush(s);
		pthread_mutex_lock(&s->lock);
		s->done_flush = wanted;
		pthread_cond_broadcast(&s->flushed);
		pthread_mutex_unlock(&s->lock);
	}
	return NULL;
}

int store_flush(struct store *s)
{
	uint64_t mine;
	int err;

	pthread_mutex_lock(&s->lock);
	mine = ++s->wanted_flush;
	pthread_cond_signal(&s->wake);
	while (s->done_flush < mine && !s->stopping)
		pthread_cond_wait(&s->flushed, &s->lock);
	err = s->flush_result;
	pthread_mutex_unlock(&s->lock);
	return err;
}

void store_status(struct store *s, struct store_status *out)
{
	pthread_mutex_lock(&s->lock);
	*out = s->status;
	pthread_mutex_unlock(&s->lock);
}

/* ---- life ---- */

static int start_thread(struct store *s, struct tacho_error *e)
{
	pthread_condattr_t attr;
	int err;

	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&s->wake, &attr);
	pthread_condattr_destroy(&attr);
	s->retention_ns = (int64_t)clock_mono_ns();
	err = pthread_create(&s->thread, NULL, store_thread, s);
	if (err)
		return error_set(e, -err, "cannot start the store's thread: %s", strerror(err));
	s->started = true;
	return 0;
}

/* A full disk does not keep the agent from counting. */
static int open_now_or_later(struct store *s, struct tacho_error *e)
{
	struct tacho_error own = { .column = -1 };
	int err = sql_open(s, &own);
	char text[700];

	if (err < 0 && err != -ENOSPC) {
		error_set(e, err, "%s", own.message);
		error_hint(e, "%s", own.hint);
		return err;
	}
	if (err == 0)
		return 0;
	s->unopened = true;
	s->open_after_ns = (int64_t)clock_mono_ns() + OPEN_RETRY_NS;
	set_error(s, own.message);
	snprintf(text, sizeof(text), "%.500s; the history waits in memory until the store can be opened", own.message);
	if (s->opts.log)
		s->opts.log(s->opts.log_arg, TACHO_LOG_WARN, text);
	return 0;
}

int store_open(struct store **out, const char *path, struct registry *r,
	       const struct store_opts *opts, struct tacho_error *e)
{
	struct store *s = calloc(1, sizeof(*s));
	int err;

	if (!s)
		return error_nomem(e);
	s->path = strdup(path);
	s->lock_fd = -1;
	s->registry = r;
	s->opts = *opts;
	pthread_mutex_init(&s->lock, NULL);
	pthread_mutex_init(&s->read_lock, NULL);
	pthread_cond_init(&s->flushed, NULL);
	err = s->path ? open_now_or_later(s, e) : error_nomem(e);
	if (err == 0)
		err = start_thread(s, e);
	if (err < 0) {
		store_close(s);
		return err;
	}
	*out = s;
	return 0;
}

void store_close(struct store *s)
{
	if (!s)
		return;
	if (s->started) {
		pthread_mutex_lock(&s->lock);
		s->stopping = true;
		pthread_cond_signal(&s->wake);
		pthread_mutex_unlock(&s->lock);
		pthread_join(s->thread, NULL);
		pthread_cond_destroy(&s->wake);
	}
	open_chunks_free(s);
	remove_deferred(s, s->deferred.n);
	vec_done(&s->deferred);
	sql_close(s);
	vec_done(&s->queued_point);
	vec_done(&s->work);
	pthread_cond_destroy(&s->flushed);
	pthread_mutex_destroy(&s->lock);
	pthread_mutex_destroy(&s->read_lock);
	free(s->path);
	free(s);
}
