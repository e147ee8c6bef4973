/*
 * Reads from the store: series, ranges of points in steps, profiles, events. Readers use their own
 * connection, so a long query does not block writes.
 */
#include "agent/store/store_internal.h"

#include <errno.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/json.h"

#define MAX_POINTS 11000

/* Prepares a statement on the readers' connection; the caller holds read_lock. */
static sqlite3_stmt *prepare(struct store *s, const char *text)
{
	sqlite3_stmt *st = NULL;

	return sqlite3_prepare_v2(s->reader, text, -1, &st, NULL) == SQLITE_OK ? st : NULL;
}

/* Ends a statement of the readers' connection. If it could not be prepared or the file is damaged, success and
 * -ENOENT become -EIO; the writer then replaces the file. */
static int finish(struct store *s, sqlite3_stmt *st, int err)
{
	int code = sqlite3_errcode(s->reader);
	bool damaged = code == SQLITE_CORRUPT || code == SQLITE_NOTADB;

	if (damaged)
		s->read_damage = true;
	sqlite3_finalize(st);
	return (err == 0 || err == -ENOENT) && (damaged || !st) ? -EIO : err;
}

static struct str column_blob(sqlite3_stmt *st, int i)
{
	return str_n(sqlite3_column_blob(st, i), (size_t)sqlite3_column_bytes(st, i));
}

static const char *column_text(sqlite3_stmt *st, int i)
{
	const unsigned char *text = sqlite3_column_text(st, i);

	return text ? (const char *)text : "";
}

/* ---- series ---- */

/* Whether the labels (as JSON) contain every `"name": "value"` of a filter "name=value,name=value". */
static bool labels_match(const char *labels, const char *filter)
{
	struct str rest = str_of(filter), word;

	while (str_cut(&rest, ',', &word)) {
		struct str name = word, value = { 0 };
		ptrdiff_t eq = str_find(word, '=');
		scoped(buf_done) struct buf want = { 0 };

		if (eq < 0)
			return false;
		name.n = (size_t)eq;
		value = str_n(word.s + eq + 1, word.n - (size_t)eq - 1);
		json_quote(&want, name);
		buf_puts(&want, ": ");
		json_quote(&want, value);
		if (buf_failed(&want) || !strstr(labels, want.bytes))
			return false;
	}
	return true;
}

int store_series(struct store *s, const struct store_series_filter *filter,
		 int (*fn)(void *arg, const struct store_series *), void *arg)
{
	sqlite3_stmt *st;
	int err = 0;

	pthread_mutex_lock(&s->read_lock);
	st = prepare(s, "SELECT key, event, name, unit, labels, kind, scale, last_ns FROM series"
			" WHERE last_ns >= ?1 ORDER BY event, key");
	sqlite3_bind_int64(st, 1, filter->from_ns);
	while (err == 0 && st && sqlite3_step(st) == SQLITE_ROW) {
		struct store_series row = {
			.key = (uint64_t)sqlite3_column_int64(st, 0),
			.event = column_text(st, 1),
			.name = column_text(st, 2),
			.unit = column_text(st, 3),
			.labels = column_text(st, 4),
			.kind = sqlite3_column_int(st, 5) ? METRIC_GAUGE : METRIC_COUNTER,
			.scale = sqlite3_column_double(st, 6),
			.last_ns = sqlite3_column_int64(st, 7),
		};

		if ((!filter->event_glob || str_glob(str_of(filter->event_glob), str_of(row.event))) &&
		    (!filter->labels || labels_match(row.labels, filter->labels)))
			err = fn(arg, &row);
	}
	err = finish(s, st, err);
	pthread_mutex_unlock(&s->read_lock);
	return err;
}

/* ---- ranges ---- */

/* State of a query of one series; one step of the answer is open at a time. */
struct query_walk {
	const struct store_query *q;
	int64_t step_ns;
	double scale;
	enum metric_kind kind;
	uint64_t key;
	size_t n, max;
	int (*fn)(void *arg, const struct store_point *);
	void *arg;
	/* the open step */
	struct store_point open;
	double counts, seconds, sum, shares;
	/* the previous point */
	struct previous_point last;
	bool found_damage;
	int64_t bucket_ns;		/* bucket length of the chunk being read; 0: single points */
};

static int emit_step(struct query_walk *w)
{
	struct store_point p = w->open;

	if (p.n == 0)
		return 0;
	w->open.n = 0;
	if (w->n++ >= w->max)
		return -E2BIG;
	if (w->kind == METRIC_GAUGE || w->q->func == STORE_VALUE)
		p.value = w->sum / p.n;
	else if (w->q->func == STORE_RATE)
		p.value = w->seconds > 0 ? w->counts / w->seconds * w->scale : 0;
	else
		p.value = w->counts * w->scale;
	p.running_share = w->seconds > 0 ? min_of(w->shares / w->seconds, 1.0) : 1;
	w->counts = w->seconds = w->sum = w->shares = 0;
	return w->fn(w->arg, &p);
}

static void update_min_max(struct query_walk *w, double least, double most)
{
	w->open.min = w->open.n ? min_of(w->open.min, least) : least;
	w->open.max = w->open.n ? max_of(w->open.max, most) : most;
	w->open.n++;
}

/* Buckets of a rollup have their own minimum and maximum rate. */
static void add_counter_point(struct query_walk *w, const struct chunk_point *p, int64_t start_ns,
			      bool rolled)
{
	double counts, seconds;

	if (w->q->func == STORE_VALUE) {
		w->sum += (double)p->count * w->scale;
		update_min_max(w, (double)p->count * w->scale, (double)p->count * w->scale);
	} else if (increase_since(&w->last, start_ns, p, &counts, &seconds)) {
		if (rolled && p->seconds > 0)
			seconds = (double)p->seconds;
		w->counts += counts;
		w->seconds += seconds;
		w->shares += p->share * seconds;
		update_min_max(w, (rolled ? (double)p->min : counts / seconds) * w->scale,
			       (rolled ? (double)p->max : counts / seconds) * w->scale);
	}
}

static int add_point(struct query_walk *w, const struct chunk_point *p, int64_t start_ns, bool rolled)
{
	int64_t at = w->step_ns ? p->time_ns - p->time_ns % w->step_ns : p->time_ns;
	int err = 0;

	if (p->time_ns >= w->q->from_ns && p->time_ns < w->q->to_ns) {
		if (w->open.n && at != w->open.time_ns)
			err = emit_step(w);
		if (w->open.n == 0)
			w->open = (struct store_point){ .key = w->key, .time_ns = at };
		if (w->kind == METRIC_GAUGE) {
			w->sum += p->value;
			update_min_max(w, rolled ? (double)p->min : p->value,
				       rolled ? (double)p->max : p->value);
		} else {
			add_counter_point(w, p, start_ns, rolled);
		}
	}
	/* A bucket's count is that of its end. */
	w->last = (struct previous_point){ true, p->time_ns + (rolled ? w->bucket_ns - 1 : 0), start_ns,
					   p->count };
	return err;
}

/* If a chunk is damaged, the points before the damage are used, and the writer replaces the file later. */
static int add_chunk(struct query_walk *w, struct str bytes, int64_t to_ns)
{
	struct chunk_reader r;
	struct chunk_point p;
	int err = chunk_open(&r, bytes), more = 0;

	while (err == 0 && (more = chunk_next(&r, &p)) > 0) {
		if ((w->last.known && p.time_ns <= w->last.time_ns) || p.time_ns >= to_ns)
			continue;
		w->bucket_ns = rollup_bucket_ns[r.level];
		err = add_point(w, &p, r.start_ns, r.level != CHUNK_FULL);
		if (err)
			return err;
	}
	w->found_damage = w->found_damage || err < 0 || more < 0;
	return 0;
}

/* The time from which each level is read: old data exists only in large buckets, very recent data in
 * no bucket yet. */
static int64_t kept_from(int64_t now_ns, uint64_t kept_ns)
{
	return kept_ns && kept_ns < (uint64_t)now_ns ? now_ns - (int64_t)kept_ns : INT64_MIN;
}

static void find_level_starts(const struct store *s, int64_t step_ns,
			      int64_t level_starts[CHUNK_LEVELS])
{
	const struct retention_config *r = &s->opts.retention;
	int64_t now = clock_wall_ns();

	level_starts[CHUNK_FULL] = kept_from(now, r->full_ns);
	level_starts[CHUNK_10S] = kept_from(now, r->seconds10_ns);
	level_starts[CHUNK_MINUTE] = INT64_MIN;
	if (step_ns >= rollup_bucket_ns[CHUNK_10S])	/* large steps do not need single points */
		level_starts[CHUNK_FULL] =
			max_of(level_starts[CHUNK_FULL], now - 6 * rollup_bucket_ns[CHUNK_10S]);
	if (step_ns >= rollup_bucket_ns[CHUNK_MINUTE])
		level_starts[CHUNK_10S] =
			max_of(level_starts[CHUNK_10S], now - 3 * rollup_bucket_ns[CHUNK_MINUTE]);
	level_starts[CHUNK_10S] = min_of(level_starts[CHUNK_10S], level_starts[CHUNK_FULL]);
}

static int load_series(struct store *s, uint64_t key, struct query_walk *w)
{
	sqlite3_stmt *st = prepare(s, "SELECT kind, scale FROM series WHERE key = ?1");
	int err = -ENOENT;

	sqlite3_bind_int64(st, 1, (int64_t)key);
	if (st && sqlite3_step(st) == SQLITE_ROW) {
		w->kind = sqlite3_column_int(st, 0) ? METRIC_GAUGE : METRIC_COUNTER;
		w->scale = sqlite3_column_double(st, 1);
		err = 0;
	}
	return finish(s, st, err);
}

static int query_level(struct store *s, struct query_walk *w, enum chunk_level level, int64_t from_ns,
		       int64_t to_ns)
{
	sqlite3_stmt *st;
	int err = 0;

	if (from_ns >= to_ns)
		return 0;
	st = prepare(s, "SELECT bytes FROM chunk WHERE level = ?1 AND series = ?2 AND from_ns < ?4 AND"
			" to_ns >= ?3 ORDER BY from_ns");
	sqlite3_bind_int(st, 1, (int)level);
	sqlite3_bind_int64(st, 2, (int64_t)w->key);
	sqlite3_bind_int64(st, 3, from_ns);
	sqlite3_bind_int64(st, 4, to_ns);
	while (err == 0 && st && sqlite3_step(st) == SQLITE_ROW)
		err = add_chunk(w, column_blob(st, 0), to_ns);
	return finish(s, st, err);
}

/* Reads from the coarsest level, which reaches back farthest, to the single points. */
static int query_series(struct store *s, uint64_t key, const int64_t level_starts[CHUNK_LEVELS],
			struct query_walk *w)
{
	int64_t from = w->q->from_ns, to = w->q->to_ns;
	int err = load_series(s, key, w);

	if (err < 0)
		return err == -ENOENT ? 0 : err;
	w->key = key;
	err = query_level(s, w, CHUNK_MINUTE, from, min_of(to, level_starts[CHUNK_10S]));
	if (err == 0)
		err = query_level(s, w, CHUNK_10S, max_of(from, level_starts[CHUNK_10S]),
				  min_of(to, level_starts[CHUNK_FULL]));
	if (err == 0)
		err = query_level(s, w, CHUNK_FULL, max_of(from, level_starts[CHUNK_FULL]), to);
	return err ? err : emit_step(w);
}

int store_query(struct store *s, const struct store_query *q,
		int (*fn)(void *arg, const struct store_point *), void *arg, struct tacho_error *e)
{
	int64_t step = q->step_ns, level_starts[CHUNK_LEVELS];
	int err = 0;

	if (q->from_ns >= q->to_ns || step < 0)
		return error_set(e, -EINVAL, "the range is empty: 'from' must be before 'to'");
	find_level_starts(s, step, level_starts);
	pthread_mutex_lock(&s->read_lock);
	for (size_t i = 0; err == 0 && i < q->n_keys; i++) {
		struct query_walk w = { .q = q, .step_ns = step, .fn = fn, .arg = arg,
				  .max = q->max_points ? q->max_points : MAX_POINTS };

		err = query_series(s, q->keys[i], level_starts, &w);
		if (w.found_damage)
			s->read_damage = true;
	}
	pthread_mutex_unlock(&s->read_lock);
	if (err == -E2BIG)
		return error_set(e, err, "more than %zu points in one series: use a larger step",
				 q->max_points ? q->max_points : (size_t)MAX_POINTS);
	return err;
}

/* ---- profiles and events ---- */

int store_profile_put(struct store *s, int64_t from_ns, int64_t to_ns, uint64_t n_samples,
		      struct str blob)
{
	struct deferred d = { .kind = DEFER_PROFILE, .from_ns = from_ns, .to_ns = to_ns, .n = n_samples };

	return store_defer(s, &d, blob, NULL);
}

int store_event_put(struct store *s, const struct store_event *ev)
{
	struct deferred d = { .kind = DEFER_EVENT, .from_ns = ev->time_ns };

	return store_defer(s, &d, (struct str){ 0 }, ev);
}

int store_profiles(struct store *s, int64_t from_ns, int64_t to_ns,
		   int (*fn)(void *arg, int64_t from_ns, int64_t to_ns, uint64_t n_samples,
			     struct str blob), void *arg)
{
	sqlite3_stmt *st;
	int err = 0;

	pthread_mutex_lock(&s->read_lock);
	st = prepare(s, "SELECT from_ns, to_ns, n, bytes FROM profile WHERE from_ns < ?2 AND to_ns > ?1"
			" ORDER BY from_ns");
	sqlite3_bind_int64(st, 1, from_ns);
	sqlite3_bind_int64(st, 2, to_ns);
	while (err == 0 && st && sqlite3_step(st) == SQLITE_ROW)
		err = fn(arg, sqlite3_column_int64(st, 0), sqlite3_column_int64(st, 1),
			 (uint64_t)sqlite3_column_int64(st, 2), column_blob(st, 3));
	err = finish(s, st, err);
	pthread_mutex_unlock(&s->read_lock);
	return err;
}

int store_events(struct store *s, int64_t from_ns, int64_t to_ns, size_t max,
		 int (*fn)(void *arg, const struct store_event *), void *arg)
{
	sqlite3_stmt *st;
	int err = 0;

	pthread_mutex_lock(&s->read_lock);
	st = prepare(s, "SELECT id, time_ns, kind, name, text, path FROM event WHERE time_ns >= ?1 AND"
			" time_ns < ?2 ORDER BY time_ns DESC LIMIT ?3");
	sqlite3_bind_int64(st, 1, from_ns);
	sqlite3_bind_int64(st, 2, to_ns);
	sqlite3_bind_int64(st, 3, (int64_t)max);
	while (err == 0 && st && sqlite3_step(st) == SQLITE_ROW) {
		struct store_event ev = {
			.id = sqlite3_column_int64(st, 0),
			.time_ns = sqlite3_column_int64(st, 1),
			.kind = column_text(st, 2),
			.name = column_text(st, 3),
			.text = column_text(st, 4),
			.path = sqlite3_column_type(st, 5) == SQLITE_NULL ? NULL : column_text(st, 5),
		};

		err = fn(arg, &ev);
	}
	err = finish(s, st, err);
	pthread_mutex_unlock(&s->read_lock);
	return err;
}
