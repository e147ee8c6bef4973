/*
 * One exporter, running. One that sends has a thread:
 *
 *	batches -> queue in memory --(every flush)--> encode -> spool -> ship
 *
 * Everything goes through the spool, so order is kept and what a dead receiver did not take is on
 * disk. A receiver that fails is tried again after a pause that doubles up to a minute, with
 * jitter, or after what its Retry-After says. Nobody waits for a receiver but its own thread.
 */
#include "agent/export/runner.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>

#include "agent/export/spool.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/vec.h"

#define QUEUE_BYTES (16u << 20)		/* of points in memory, before they are encoded */
#define PROFILES_MAX 6			/* that wait in memory */
#define PAUSE_MIN_S 1.0
#define PAUSE_MAX_S 60.0
#define QUIET_NS 60000000000ull		/* between two failures that are logged */

struct kept_batch {			/* with its points and the source's name behind it */
	struct point_batch batch;
	size_t bytes;
	struct point points[];
};

struct kept_profile {
	char *bytes;
	size_t n;
	uint64_t samples;
	int64_t from_ns, to_ns;
};

struct pusher {
	struct exporter_env env;
	const struct export_config *config;
	const struct exporter_type *type;
	const struct push_settings *settings;	/* NULL: it serves */
	void *x;			/* what open() made; NULL: not open yet */
	pthread_t thread;
	bool started;
	pthread_mutex_t lock;		/* guards what follows */
	pthread_cond_t wake;
	struct { struct kept_batch **v; size_t n, cap; } queue;
	size_t queue_bytes, queue_points;
	struct kept_profile profiles[PROFILES_MAX];
	size_t n_profiles;
	struct exporter_status status;
	int64_t waiting_since_ns;	/* of the oldest in the spool; 0: empty */
	bool stopping;
	/* the thread's own */
	struct spool *spool;
	struct buf body;
	double pause_s;
	uint64_t flush_ns, retry_ns;	/* when to do so next */
	unsigned random;
	bool told;			/* this failure was logged */
	uint64_t quiet_until_ns;
	bool told_rejected;		/* that the receiver keeps only a part was logged */
	_Atomic uint64_t stop_by_ns;	/* 0: nobody asked */
};

/* ---- taking ---- */

static bool wants(const struct pusher *p, const char *source)
{
	const struct strlist *only = &p->settings->sources;

	for (size_t i = 0; i < only->n; i++)
		if (!strcmp(only->v[i], source))
			return true;
	return only->n == 0;
}

static void drop_oldest(struct pusher *p)
{
	struct kept_batch *b = p->queue.v[0];

	p->queue_bytes -= b->bytes;
	p->queue_points -= b->batch.n_points;
	p->status.dropped_points += b->batch.n_points;
	free(b);
	p->queue.n--;
	memmove(p->queue.v, p->queue.v + 1, p->queue.n * sizeof(*p->queue.v));
}

/* The batch's name is that of a configuration which may go before it is sent. */
static void copy_batch(struct kept_batch *copy, const struct point_batch *b)
{
	char *name = (char *)(copy->points + b->n_points);

	copy->batch = *b;
	copy->batch.points = copy->points;
	memcpy(copy->points, b->points, b->n_points * sizeof(*b->points));
	copy->batch.source = memcpy(name, b->source, strlen(b->source) + 1);
}

static void keep(struct pusher *p, const struct point_batch *b)
{
	size_t bytes = sizeof(struct kept_batch) + b->n_points * sizeof(*b->points) + strlen(b->source) + 1;
	struct kept_batch *copy = malloc(bytes), **place = NULL;

	pthread_mutex_lock(&p->lock);
	while (p->queue.n && p->queue_bytes + bytes > QUEUE_BYTES)
		drop_oldest(p);
	if (copy && bytes <= QUEUE_BYTES)
		place = vec_add(&p->queue);
	if (place) {
		copy_batch(copy, b);
		copy->bytes = bytes;
		*place = copy;
		p->queue_bytes += bytes;
		p->queue_points += b->n_points;
		if (p->queue_points >= p->settings->max_points)
			pthread_cond_signal(&p->wake);
	} else {
		p->status.dropped_points += b->n_points;
		free(copy);
	}
	pthread_mutex_unlock(&p->lock);
}

void pusher_take(struct pusher *p, const struct point_batch *b)
{
	if (p->started && p->type->encode && wants(p, b->source))
		keep(p, b);
}

static void drop_oldest_profile(struct pusher *p)
{
	free(p->profiles[0].bytes);
	p->n_profiles--;
	memmove(p->profiles, p->profiles + 1, p->n_profiles * sizeof(*p->profiles));
}

static void keep_profile(struct pusher *p, const struct kept_profile *one)
{
	pthread_mutex_lock(&p->lock);
	if (!one->bytes) {
		p->status.dropped_points += one->samples;
	} else {
		if (p->n_profiles == PROFILES_MAX) {
			p->status.dropped_points += p->profiles[0].samples;
			drop_oldest_profile(p);
		}
		p->profiles[p->n_profiles++] = *one;
		pthread_cond_signal(&p->wake);
	}
	pthread_mutex_unlock(&p->lock);
}

void pusher_take_profile(struct pusher *p, struct str pprof, uint64_t n_samples, int64_t from_ns,
			 int64_t to_ns)
{
	char *copy;

	if (!p->started || !p->type->ship_profile || !pprof.n)
		return;
	copy = malloc(pprof.n);
	if (copy)
		memcpy(copy, pprof.s, pprof.n);
	keep_profile(p, &(struct kept_profile){ copy, pprof.n, n_samples, from_ns, to_ns });
}

/* ---- the thread ---- */

static void say(struct pusher *p, const char *text)
{
	char line[600];

	if (!p->env.log)
		return;
	snprintf(line, sizeof(line), "export '%s': %s", p->config->name, text);
	p->env.log(p->env.log_arg, TACHO_LOG_WARN, line);
}

/* A failure is said once, until it works again; where it works every other time (UDP to a port that
 * nobody listens at), once a minute. */
static void failed(struct pusher *p, const char *text)
{
	uint64_t now = clock_mono_ns();

	pthread_mutex_lock(&p->lock);
	p->status.connected = false;
	snprintf(p->status.last_error, sizeof(p->status.last_error), "%.250s", text);
	pthread_mutex_unlock(&p->lock);
	if (p->told || now < p->quiet_until_ns)
		return;
	say(p, text);
	p->told = true;
	p->quiet_until_ns = now + QUIET_NS;
}

static void account(struct pusher *p, uint64_t sent, uint64_t dropped, bool retried)
{
	pthread_mutex_lock(&p->lock);
	p->status.sent_points += sent;
	p->status.dropped_points += dropped;
	p->status.retries += retried;
	p->status.queued_points = spool_points(p->spool) + p->queue_points;
	p->status.queued_bytes = spool_bytes(p->spool) + p->queue_bytes;
	p->waiting_since_ns = spool_oldest_ns(p->spool);
	if (sent) {
		p->status.connected = true;
		p->status.last_error[0] = '\0';
	}
	pthread_mutex_unlock(&p->lock);
}

/* What a receiver says of what it took (points that it rejected) is said once and for all: it may be
 * true of every body or of every tenth. */
static void taken(struct pusher *p, const struct shipment *item, const struct ship_reply *reply)
{
	uint64_t rejected = min_of(reply->rejected, item->n_points);

	p->told = false;
	account(p, item->n_points - rejected, rejected, false);
	if (!reply->text[0])
		return;
	pthread_mutex_lock(&p->lock);
	snprintf(p->status.last_error, sizeof(p->status.last_error), "%.250s", reply->text);
	p->status.connected = true;
	pthread_mutex_unlock(&p->lock);
	if (!p->told_rejected)
		say(p, reply->text);
	p->told_rejected = true;
}

static void pause_for(struct pusher *p, double asked_s)
{
	double jitter;

	p->pause_s = p->pause_s > 0 ? min_of(p->pause_s * 2, PAUSE_MAX_S) : PAUSE_MIN_S;
	p->random = p->random * 1103515245 + 12345;
	jitter = 0.75 + (double)(p->random >> 16 & 0x7fff) / 32768 / 2;
	p->retry_ns = clock_mono_ns() +
		      (uint64_t)((asked_s > 0 ? min_of(asked_s, 3600.0) : p->pause_s * jitter) * 1e9);
}

static bool open_it(struct pusher *p)
{
	struct tacho_error e = { .column = -1 };

	if (p->x || p->type->open(&p->x, p->config->settings, &p->env, &e) == 0)
		return true;
	p->x = NULL;
	failed(p, e.message);
	pause_for(p, 0);
	return false;
}

/* Takes batches up to the size of one body out of the queue, at least one. */
static size_t grab(struct pusher *p, struct kept_batch **out, size_t max)
{
	uint64_t points = 0;
	size_t n = 0;

	pthread_mutex_lock(&p->lock);
	while (n < p->queue.n && n < max &&
	       (n == 0 || points + p->queue.v[n]->batch.n_points <= p->settings->max_points)) {
		out[n] = p->queue.v[n];
		points += out[n]->batch.n_points;
		p->queue_bytes -= out[n]->bytes;
		n++;
	}
	p->queue_points -= points;
	p->queue.n -= n;
	if (n)
		memmove(p->queue.v, p->queue.v + n, p->queue.n * sizeof(*p->queue.v));
	pthread_mutex_unlock(&p->lock);
	return n;
}

static void encode_some(struct pusher *p, const struct point_batch *batches, size_t n)
{
	uint64_t points = 0;
	struct shipment item;
	int64_t went;

	for (size_t i = 0; i < n; i++)
		points += batches[i].n_points;
	buf_clear(&p->body);
	p->body.bad = false;
	pthread_rwlock_rdlock(&p->env.registry->lock);
	went = p->type->encode(p->x, batches, n, &p->body);
	pthread_rwlock_unlock(&p->env.registry->lock);
	if (went < 0 || buf_failed(&p->body)) {
		account(p, 0, points, false);
		return;
	}
	item = (struct shipment){ .body = buf_view(&p->body), .n_points = (uint64_t)went,
				  .from_ns = batches[0].time_ns, .to_ns = batches[n - 1].time_ns };
	account(p, 0, item.body.n && went ? spool_put(p->spool, &item) : 0, false);
}

/* A batch that is larger than one body is cut into several. */
static void encode_pieces(struct pusher *p, const struct point_batch *b)
{
	struct point_batch piece = *b;

	for (size_t at = 0; at < b->n_points; at += piece.n_points) {
		piece.points = b->points + at;
		piece.n_points = min_of(b->n_points - at, (size_t)p->settings->max_points);
		encode_some(p, &piece, 1);
	}
}

static void encode_all(struct pusher *p)
{
	struct kept_batch *kept[64];
	struct point_batch batches[64];
	size_t n;

	while (open_it(p) && (n = grab(p, kept, countof(kept))) > 0) {
		for (size_t i = 0; i < n; i++)
			batches[i] = kept[i]->batch;
		if (n == 1)
			encode_pieces(p, batches);
		else
			encode_some(p, batches, n);
		for (size_t i = 0; i < n; i++)
			free(kept[i]);
	}
}

/* Profiles are bodies already. */
static void spool_profiles(struct pusher *p)
{
	struct kept_profile v[PROFILES_MAX];
	size_t n;

	pthread_mutex_lock(&p->lock);
	n = p->n_profiles;
	memcpy(v, p->profiles, n * sizeof(*v));
	p->n_profiles = 0;
	pthread_mutex_unlock(&p->lock);
	for (size_t i = 0; i < n; i++) {
		struct shipment item = { str_n(v[i].bytes, v[i].n), v[i].samples, v[i].from_ns, v[i].to_ns };

		account(p, 0, spool_put(p->spool, &item), false);
		free(v[i].bytes);
	}
}

static bool out_of_time(const struct pusher *p)
{
	uint64_t by = p->stop_by_ns;

	return by && clock_mono_ns() > by;
}

/* Sends what waits, oldest first, until it is empty or something fails. */
static void ship_all(struct pusher *p)
{
	struct shipment item;

	while (!out_of_time(p) && open_it(p) && spool_first(p->spool, &item)) {
		struct ship_reply reply = { 0 };
		enum ship_result result = (p->type->encode ? p->type->ship : p->type->ship_profile)(
			p->x, &item, &reply);

		if (result == SHIP_RETRY) {
			failed(p, reply.text);
			account(p, 0, 0, true);
			pause_for(p, reply.retry_after_s);
			return;
		}
		spool_drop_first(p->spool);
		p->pause_s = 0;
		p->retry_ns = 0;
		if (result == SHIP_DONE) {
			taken(p, &item, &reply);
			continue;
		}
		failed(p, reply.text);
		account(p, 0, item.n_points, false);
	}
}

static bool wait_for_work(struct pusher *p)
{
	bool over;

	pthread_mutex_lock(&p->lock);
	for (;;) {
		uint64_t now = clock_mono_ns(), next = p->flush_ns;
		struct timespec ts;

		if (p->retry_ns)
			next = min_of(next, p->retry_ns);
		else if (p->queue_points >= p->settings->max_points || p->n_profiles)
			break;
		if (p->stopping || now >= next)
			break;
		ts = (struct timespec){ .tv_sec = (time_t)(next / 1000000000),
					.tv_nsec = (long)(next % 1000000000) };
		pthread_cond_timedwait(&p->wake, &p->lock, &ts);
	}
	over = p->stopping;
	pthread_mutex_unlock(&p->lock);
	return !over;
}

static void *run(void *arg)
{
	struct pusher *p = arg;
	bool more = true;

	while (more) {
		uint64_t now;

		p->flush_ns = clock_mono_ns() + p->settings->flush_ns;
		more = wait_for_work(p);
		now = clock_mono_ns();
		if (p->type->encode)
			encode_all(p);
		else
			spool_profiles(p);
		if (p->retry_ns > now && more)
			continue;
		p->retry_ns = 0;
		ship_all(p);
	}
	return NULL;
}

/* ---- life ---- */

/* The queue's directory, made where it is missing. */
static int spool_dir(const struct pusher *p, char *out)
{
	const char *state = p->env.state_dir;
	struct buf name = { 0 };
	int n;

	if (!state)
		return 0;
	n = snprintf(out, PATH_MAX, "%s/queue", state);
	if (n < 0 || n >= PATH_MAX)
		return -ENAMETOOLONG;
	if (mkdir(out, 0700) < 0 && errno != EEXIST)
		return -errno;
	for (const char *c = p->config->name; *c; c++)	/* a name from the file: no way out of here */
		buf_putc(&name, (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') ||
			 (*c >= '0' && *c <= '9') || *c == '-' || *c == '_' ? *c : '_');
	n = snprintf(out, PATH_MAX, "%s/queue/%s", state, name.bytes ? name.bytes : "_");
	buf_done(&name);
	return n < 0 || n >= PATH_MAX ? -ENAMETOOLONG : 1;
}

static int open_spool(struct pusher *p, struct tacho_error *e)
{
	const char *format = p->type->format ? p->type->format(p->settings) : p->type->name;
	uint64_t foreign = 0;
	char dir[PATH_MAX], text[160];
	int err = spool_dir(p, dir);

	if (err >= 0)
		err = spool_open(&p->spool, err ? dir : NULL, format, p->settings->queue_bytes, &foreign);
	if (err < 0)
		return error_set(e, err, "cannot keep a queue for export '%s': %s", p->config->name,
				 strerror(-err));
	if (foreign) {
		p->status.dropped_points = foreign;
		snprintf(text, sizeof(text), "%llu points that waited in another format than %s are dropped",
			 (unsigned long long)foreign, format);
		say(p, text);
	}
	return 0;
}

static int start_pusher(struct pusher *p, struct tacho_error *e)
{
	pthread_condattr_t attr;
	int err = open_spool(p, e);

	if (err < 0)
		return err;
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&p->wake, &attr);
	pthread_condattr_destroy(&attr);
	p->random = (unsigned)clock_mono_ns();
	err = pthread_create(&p->thread, NULL, run, p);
	if (err)	/* the condition variable holds nothing */
		return error_set(e, -err, "cannot start export '%s': %s", p->config->name, strerror(err));
	p->started = true;
	return 0;
}

int pusher_new(struct pusher **out, const struct export_config *cfg, const struct exporter_env *env,
	       struct tacho_error *e)
{
	struct pusher *p = calloc(1, sizeof(*p));
	int err;

	if (!p)
		return error_nomem(e);
	p->env = *env;
	p->env.stop_by_ns = &p->stop_by_ns;
	p->env.config = config_hold(env->config);
	p->config = cfg;
	p->type = cfg->type;
	snprintf(p->status.name, sizeof(p->status.name), "%s", cfg->name);
	p->status.type = cfg->type->name;
	pthread_mutex_init(&p->lock, NULL);
	if (exporter_pushes(p->type)) {
		p->settings = cfg->settings;
		err = start_pusher(p, e);
	} else {
		err = p->type->open(&p->x, cfg->settings, &p->env, e);
		p->status.connected = err == 0;
	}
	if (err < 0) {
		pusher_free(p);
		return err;
	}
	*out = p;
	return 0;
}

void pusher_status(struct pusher *p, struct exporter_status *out)
{
	int64_t oldest = 0;

	pthread_mutex_lock(&p->lock);
	*out = p->status;
	if (p->queue.n)
		oldest = p->queue.v[0]->batch.time_ns;
	if (p->waiting_since_ns)
		oldest = oldest ? min_of(oldest, p->waiting_since_ns) : p->waiting_since_ns;
	pthread_mutex_unlock(&p->lock);
	if (!p->settings && p->x && p->type->connected)	/* one that serves: x stays as it is */
		out->connected = p->type->connected(p->x);
	out->lag_s = oldest ? max_of((double)(clock_wall_ns() - oldest) * 1e-9, 0.0) : 0;
}

const struct export_config *pusher_config(const struct pusher *p)
{
	return p->config;
}

const struct agent_config *pusher_agent_config(const struct pusher *p)
{
	return p->env.config;
}

void pusher_stop(struct pusher *p, unsigned grace_ms)
{
	p->stop_by_ns = clock_mono_ns() + grace_ms * 1000000ull;
	if (!p->started)
		return;
	pthread_mutex_lock(&p->lock);
	p->stopping = true;
	pthread_cond_signal(&p->wake);
	pthread_mutex_unlock(&p->lock);
}

void pusher_free(struct pusher *p)
{
	if (p->started) {
		pthread_join(p->thread, NULL);
		pthread_cond_destroy(&p->wake);
	}
	if (p->x)
		p->type->close(p->x);
	for (size_t i = 0; i < p->queue.n; i++)
		free(p->queue.v[i]);
	vec_done(&p->queue);
	for (size_t i = 0; i < p->n_profiles; i++)
		free(p->profiles[i].bytes);
	spool_close(p->spool);
	buf_done(&p->body);
	pthread_mutex_destroy(&p->lock);
	config_free(p->env.config);
	free(p);
}
