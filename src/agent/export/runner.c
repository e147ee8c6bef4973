/*
 * One running exporter. A push exporter has a thread:
 *
 *	batches -> queue in memory --(every flush)--> encode -> spool -> send
 *
 * Everything goes through the spool, so the order is kept and bodies that an unreachable receiver
 * did not take are on disk. After a failure the exporter waits before it retries: the wait doubles
 * up to a minute, with jitter, or is given by the receiver's Retry-After. Only the exporter's own
 * thread ever waits for the receiver.
 */
#include "agent/export/runner.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>

#include "agent/export/point_filter.h"
#include "agent/export/series_names.h"
#include "agent/export/spool.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/vec.h"

#define QUEUE_BYTES (16u << 20)		/* limit of points in memory that are not encoded yet */
#define PROFILES_MAX 6			/* limit of profiles in memory */
#define PAUSE_MIN_S 1.0
#define PAUSE_MAX_S 60.0
#define QUIET_NS 60000000000ull		/* minimum time between two logged failures */

struct queued_batch {			/* one allocation with its points and the source's name */
	struct point_batch batch;
	size_t bytes;
	struct point points[];
};

struct queued_profile {
	char *bytes;
	size_t n;
	uint64_t samples;
	int64_t from_ns, to_ns;
};

struct exporter_runner {
	struct exporter_env env;
	const struct export_config *config;
	const struct exporter_type *type;
	const struct push_settings *settings;	/* NULL: a serving exporter */
	void *x;			/* result of open(); NULL: not open yet */
	pthread_t thread;
	bool started;
	pthread_mutex_t lock;		/* guards the following members */
	pthread_cond_t wake;
	struct { struct queued_batch **v; size_t n, cap; } queue;
	size_t queue_bytes, queue_points;
	struct queued_profile profiles[PROFILES_MAX];
	size_t n_profiles;
	struct exporter_status status;
	int64_t waiting_since_ns;	/* time of the oldest item in the spool; 0: empty */
	bool stopping;
	/* used by the thread only */
	struct point_filter *filter;	/* NULL: all series */
	struct spool *spool;
	struct buf body;
	double pause_s;
	uint64_t flush_ns, retry_ns;	/* time of the next flush and retry */
	unsigned random;
	bool failure_logged;			/* the current failure has been logged */
	uint64_t quiet_until_ns;
	bool rejection_logged;		/* a partial rejection has been logged */
	_Atomic uint64_t stop_by_ns;	/* 0: not stopping */
};

/* ---- queueing batches and profiles ---- */

static bool accepts_source(const struct exporter_runner *p, const char *source)
{
	const struct strlist *only = &p->settings->sources;

	for (size_t i = 0; i < only->n; i++)
		if (!strcmp(only->v[i], source))
			return true;
	return only->n == 0;
}

static void drop_oldest(struct exporter_runner *p)
{
	struct queued_batch *b = p->queue.v[0];

	p->queue_bytes -= b->bytes;
	p->queue_points -= b->batch.n_points;
	p->status.dropped_points += b->batch.n_points;
	free(b);
	p->queue.n--;
	memmove(p->queue.v, p->queue.v + 1, p->queue.n * sizeof(*p->queue.v));
}

/* The name is copied, because the configuration that owns it may be freed before the batch is sent. */
static void copy_batch(struct queued_batch *copy, const struct point_batch *b)
{
	char *name = (char *)(copy->points + b->n_points);

	copy->batch = *b;
	copy->batch.points = copy->points;
	memcpy(copy->points, b->points, b->n_points * sizeof(*b->points));
	copy->batch.source = memcpy(name, b->source, strlen(b->source) + 1);
}

static void queue_batch(struct exporter_runner *p, const struct point_batch *b)
{
	size_t bytes = sizeof(struct queued_batch) + b->n_points * sizeof(*b->points) +
		       strlen(b->source) + 1;
	struct queued_batch *copy = malloc(bytes), **place = NULL;

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

void exporter_runner_take(struct exporter_runner *p, const struct point_batch *b)
{
	struct point_batch some = *b;
	scoped(freep) struct point *points = NULL;

	if (!p->started || !p->type->encode || !accepts_source(p, b->source))
		return;
	if (p->filter) {
		points = malloc(b->n_points * sizeof(*points));
		if (!points)
			return;
		some.points = points;
		some.n_points = point_filter_apply(p->filter, p->env.registry, b, points);
	}
	if (some.n_points)
		queue_batch(p, &some);
}

static void drop_oldest_profile(struct exporter_runner *p)
{
	free(p->profiles[0].bytes);
	p->n_profiles--;
	memmove(p->profiles, p->profiles + 1, p->n_profiles * sizeof(*p->profiles));
}

static void queue_profile(struct exporter_runner *p, const struct queued_profile *one)
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

bool exporter_runner_wants_profile(const struct exporter_runner *p, const char *format)
{
	const char *own = p->type->profile_format;

	return p->started && p->type->send_profile && !strcmp(own ? own : "pprof", format);
}

void exporter_runner_take_profile(struct exporter_runner *p, struct str pprof, uint64_t n_samples,
				  int64_t from_ns, int64_t to_ns)
{
	char *copy;

	if (!p->started || !p->type->send_profile || !pprof.n)
		return;
	copy = malloc(pprof.n);
	if (copy)
		memcpy(copy, pprof.s, pprof.n);
	queue_profile(p, &(struct queued_profile){ copy, pprof.n, n_samples, from_ns, to_ns });
}

/* ---- the thread ---- */

static void log_text(struct exporter_runner *p, enum tacho_log_level level, const char *text)
{
	char line[600];

	if (!p->env.log)
		return;
	snprintf(line, sizeof(line), "export '%s': %s", p->config->name, text);
	p->env.log(p->env.log_arg, level, line);
}

static void log_warning(struct exporter_runner *p, const char *text)
{
	log_text(p, TACHO_LOG_WARN, text);
}

/* Logs a failure once until sending works again, and at most once a minute, since sending may
 * alternately work and fail (UDP to a closed port). */
static void report_failure(struct exporter_runner *p, const char *text)
{
	uint64_t now = clock_mono_ns();

	pthread_mutex_lock(&p->lock);
	p->status.connected = false;
	snprintf(p->status.last_error, sizeof(p->status.last_error), "%.250s", text);
	pthread_mutex_unlock(&p->lock);
	if (p->failure_logged || now < p->quiet_until_ns)
		return;
	log_warning(p, text);
	p->failure_logged = true;
	p->quiet_until_ns = now + QUIET_NS;
}

static void update_status(struct exporter_runner *p, uint64_t sent, uint64_t dropped, bool retried)
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

/* The receiver accepted the body. Its remark, such as a number of rejected points, is logged only
 * once: it may apply to every body. */
static void report_success(struct exporter_runner *p, const struct export_body *item,
			   const struct send_reply *reply)
{
	uint64_t rejected = min_of(reply->rejected, item->n_points);

	if (p->failure_logged)
		log_text(p, TACHO_LOG_INFO, "works again");
	p->failure_logged = false;
	update_status(p, item->n_points - rejected, rejected, false);
	if (!reply->text[0])
		return;
	pthread_mutex_lock(&p->lock);
	snprintf(p->status.last_error, sizeof(p->status.last_error), "%.250s", reply->text);
	p->status.connected = true;
	pthread_mutex_unlock(&p->lock);
	if (!p->rejection_logged)
		log_warning(p, reply->text);
	p->rejection_logged = true;
}

static void schedule_retry(struct exporter_runner *p, double asked_s)
{
	double jitter;

	p->pause_s = p->pause_s > 0 ? min_of(p->pause_s * 2, PAUSE_MAX_S) : PAUSE_MIN_S;
	p->random = p->random * 1103515245 + 12345;
	jitter = 0.75 + (double)(p->random >> 16 & 0x7fff) / 32768 / 2;
	p->retry_ns = clock_mono_ns() +
		      (uint64_t)((asked_s > 0 ? min_of(asked_s, 3600.0) : p->pause_s * jitter) * 1e9);
}

static bool open_exporter(struct exporter_runner *p)
{
	struct tacho_error e = { .column = -1 };

	if (p->x || p->type->open(&p->x, p->config->settings, &p->env, &e) == 0)
		return true;
	p->x = NULL;
	report_failure(p, e.message);
	schedule_retry(p, 0);
	return false;
}

/* Takes batches for one body from the queue, at least one. */
static size_t take_batches(struct exporter_runner *p, struct queued_batch **out, size_t max)
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

static void encode_batches(struct exporter_runner *p, const struct point_batch *batches, size_t n)
{
	uint64_t points = 0;
	struct export_body item;
	int64_t went;

	for (size_t i = 0; i < n; i++)
		points += batches[i].n_points;
	buf_clear(&p->body);
	p->body.bad = false;
	pthread_rwlock_rdlock(&p->env.registry->lock);
	went = p->type->encode(p->x, batches, n, &p->body);
	pthread_rwlock_unlock(&p->env.registry->lock);
	if (went < 0 || buf_failed(&p->body)) {
		update_status(p, 0, points, false);
		return;
	}
	item = (struct export_body){ .body = buf_view(&p->body), .n_points = (uint64_t)went,
				  .from_ns = batches[0].time_ns, .to_ns = batches[n - 1].time_ns };
	update_status(p, 0, item.body.n && went ? spool_put(p->spool, &item) : 0, false);
}

/* Splits a batch that is larger than one body. */
static void encode_in_parts(struct exporter_runner *p, const struct point_batch *b)
{
	struct point_batch part = *b;

	for (size_t at = 0; at < b->n_points; at += part.n_points) {
		part.points = b->points + at;
		part.n_points = min_of(b->n_points - at, (size_t)p->settings->max_points);
		encode_batches(p, &part, 1);
	}
}

static void encode_queue(struct exporter_runner *p)
{
	struct queued_batch *queued[64];
	struct point_batch batches[64];
	size_t n;

	while (open_exporter(p) && (n = take_batches(p, queued, countof(queued))) > 0) {
		for (size_t i = 0; i < n; i++)
			batches[i] = queued[i]->batch;
		if (n == 1)
			encode_in_parts(p, batches);
		else
			encode_batches(p, batches, n);
		for (size_t i = 0; i < n; i++)
			free(queued[i]);
	}
}

/* Profiles need no encoding. */
static void spool_profiles(struct exporter_runner *p)
{
	struct queued_profile v[PROFILES_MAX];
	size_t n;

	pthread_mutex_lock(&p->lock);
	n = p->n_profiles;
	memcpy(v, p->profiles, n * sizeof(*v));
	p->n_profiles = 0;
	pthread_mutex_unlock(&p->lock);
	for (size_t i = 0; i < n; i++) {
		struct export_body item = { str_n(v[i].bytes, v[i].n), v[i].samples, v[i].from_ns,
					    v[i].to_ns };

		update_status(p, 0, spool_put(p->spool, &item), false);
		free(v[i].bytes);
	}
}

static bool out_of_time(const struct exporter_runner *p)
{
	uint64_t by = p->stop_by_ns;

	return by && clock_mono_ns() > by;
}

/* Sends the spooled items, oldest first, until the spool is empty or sending fails. */
static void send_spooled(struct exporter_runner *p)
{
	struct export_body item;

	while (!out_of_time(p) && open_exporter(p) && spool_first(p->spool, &item)) {
		struct send_reply reply = { 0 };
		enum send_result result =
			(p->type->encode ? p->type->send_body : p->type->send_profile)(p->x, &item,
										       &reply);

		if (result == SEND_RETRY) {
			report_failure(p, reply.text);
			update_status(p, 0, 0, true);
			schedule_retry(p, reply.retry_after_s);
			return;
		}
		spool_drop_first(p->spool);
		p->pause_s = 0;
		p->retry_ns = 0;
		if (result == SEND_DONE) {
			report_success(p, &item, &reply);
			continue;
		}
		report_failure(p, reply.text);
		update_status(p, 0, item.n_points, false);
	}
}

static bool wait_for_work(struct exporter_runner *p)
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

static void *runner_thread(void *arg)
{
	struct exporter_runner *p = arg;
	bool more = true;

	while (more) {
		uint64_t now;

		p->flush_ns = clock_mono_ns() + p->settings->flush_ns;
		more = wait_for_work(p);
		now = clock_mono_ns();
		if (p->type->encode)
			encode_queue(p);
		else
			spool_profiles(p);
		if (p->retry_ns > now && more)
			continue;
		p->retry_ns = 0;
		send_spooled(p);
	}
	return NULL;
}

/* ---- life ---- */

/* The directory of the queue, created if missing. Returns 1, 0 without a state directory, or a
 * negative errno. */
static int spool_dir(const struct exporter_runner *p, char *out)
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
	for (const char *c = p->config->name; *c; c++)	/* the name is user input: no path separators */
		buf_putc(&name, (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') ||
			 (*c >= '0' && *c <= '9') || *c == '-' || *c == '_' ? *c : '_');
	n = snprintf(out, PATH_MAX, "%s/queue/%s", state, name.bytes ? name.bytes : "_");
	buf_done(&name);
	return n < 0 || n >= PATH_MAX ? -ENAMETOOLONG : 1;
}

static int open_spool(struct exporter_runner *p, struct tacho_error *e)
{
	const char *format = p->type->format ? p->type->format(p->settings) : p->type->name;
	uint64_t foreign = 0;
	char dir[PATH_MAX], text[160];
	int err = spool_dir(p, dir);

	if (err >= 0)
		err = spool_open(&p->spool, err ? dir : NULL, format, p->settings->queue_bytes, &foreign);
	if (err < 0)
		return error_set(e, err, "cannot open the queue of export '%s': %s", p->config->name,
				 strerror(-err));
	if (foreign) {
		p->status.dropped_points = foreign;
		snprintf(text, sizeof(text), "dropped %llu queued points that are not in the format %s",
			 (unsigned long long)foreign, format);
		log_warning(p, text);
	}
	return 0;
}

static int start_runner(struct exporter_runner *p, struct tacho_error *e)
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
	err = pthread_create(&p->thread, NULL, runner_thread, p);
	if (err)	/* the condition variable holds no resources */
		return error_set(e, -err, "cannot start export '%s': %s", p->config->name, strerror(err));
	p->started = true;
	return 0;
}

int exporter_runner_new(struct exporter_runner **out, const struct export_config *cfg,
			const struct exporter_env *env, struct tacho_error *e)
{
	struct exporter_runner *p = calloc(1, sizeof(*p));
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
		err = point_filter_new(&p->filter, p->settings, e);
		if (err == 0)
			err = series_names_new(&p->env.names, p->settings, e);
		if (err == 0)
			err = start_runner(p, e);
	} else {
		err = p->type->open(&p->x, cfg->settings, &p->env, e);
		p->status.connected = err == 0;
	}
	if (err < 0) {
		exporter_runner_free(p);
		return err;
	}
	*out = p;
	return 0;
}

void exporter_runner_status(struct exporter_runner *p, struct exporter_status *out)
{
	int64_t oldest = 0;

	pthread_mutex_lock(&p->lock);
	*out = p->status;
	if (p->queue.n)
		oldest = p->queue.v[0]->batch.time_ns;
	if (p->waiting_since_ns)
		oldest = oldest ? min_of(oldest, p->waiting_since_ns) : p->waiting_since_ns;
	pthread_mutex_unlock(&p->lock);
	if (!p->settings && p->x && p->type->connected)	/* a serving exporter: x does not change */
		out->connected = p->type->connected(p->x);
	out->lag_s = oldest ? max_of((double)(clock_wall_ns() - oldest) * 1e-9, 0.0) : 0;
}

const struct export_config *exporter_runner_config(const struct exporter_runner *p)
{
	return p->config;
}

const struct agent_config *exporter_runner_agent_config(const struct exporter_runner *p)
{
	return p->env.config;
}

void exporter_runner_stop(struct exporter_runner *p, unsigned grace_ms)
{
	p->stop_by_ns = clock_mono_ns() + grace_ms * 1000000ull;
	if (!p->started)
		return;
	pthread_mutex_lock(&p->lock);
	p->stopping = true;
	pthread_cond_signal(&p->wake);
	pthread_mutex_unlock(&p->lock);
}

void exporter_runner_free(struct exporter_runner *p)
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
	point_filter_free(p->filter);
	series_names_free(p->env.names);
	pthread_mutex_destroy(&p->lock);
	config_free(p->env.config);
	free(p);
}
