/*
 * The series being written: each has one open chunk per level. A flush also writes the open chunks,
 * replacing their previous version; a chunk that is large enough is closed.
 */
#include "agent/store/store_internal.h"

#include <errno.h>

#include "base/json.h"
#include "base/vec.h"

#define CLOCK_STEP_BACK_NS 60000000000

static void free_series_chunks(struct series_chunks *w)
{
	if (!w)
		return;
	for (int level = 0; level < CHUNK_LEVELS; level++)
		chunk_done(&w->open[level]);
	free(w);
}

void open_chunks_free(struct store *s)
{
	for (size_t i = 0; i < s->series.n; i++)
		free_series_chunks(s->series.v[i]);
	vec_done(&s->series);
	for (size_t i = 0; i < s->closed.n; i++)
		free(s->closed.v[i].bytes);
	vec_done(&s->closed);
}

/* ---- first point of a series ---- */

struct rollup_replay {
	struct series_chunks *w;
	int64_t after_ns[CHUNK_LEVELS];
};

/* Adds a stored point to the rollups: a previous agent stored it but did not complete its buckets. */
static int replay_point(void *arg, const struct chunk_point *p, int64_t start_ns)
{
	struct rollup_replay *r = arg;
	struct chunk_point bucket;

	for (int level = CHUNK_10S; level < CHUNK_LEVELS; level++)
		if (p->time_ns >= r->after_ns[level] &&
		    rollup_add(&r->w->rollups[level], p, start_ns, &bucket)) {
			if (r->w->open[level].n == 0)
				chunk_begin(&r->w->open[level], level, r->w->kind, start_ns);
			chunk_add(&r->w->open[level], &bucket);
			r->w->dirty[level] = true;
		}
	return 0;
}

static int replay_tail(struct store *s, struct series_chunks *w)
{
	struct rollup_replay r = { .w = w };
	int64_t from = INT64_MAX;

	for (int level = CHUNK_10S; level < CHUNK_LEVELS; level++) {
		int64_t last = sql_last_bucket(s, w->key, level);

		r.after_ns[level] = last ? last + rollup_bucket_ns[level] : 0;
		from = min_of(from, r.after_ns[level]);
	}
	return sql_points_after(s, w->key, from, replay_point, &r);
}

static void text_done(struct series_text *t)
{
	free(t->ident);
	free(t->labels);
	free(t->event);
	free(t->name);
	free(t->unit);
}

/* Formats `event{cpu="0",source="system"}`, and the labels as JSON. */
static int make_series_text(const struct series *ser, struct series_text *t)
{
	struct buf ident = { 0 }, labels = { 0 };
	struct json j = { .out = &labels };

	buf_printf(&ident, "%s{", ser->metric->event);
	json_begin(&j, '{');
	for (size_t i = 0; i < ser->n_labels; i++) {
		buf_printf(&ident, "%s%s=", i ? "," : "", ser->labels[i].name);
		json_quote(&ident, str_of(ser->labels[i].value));
		json_member(&j, ser->labels[i].name, str, ser->labels[i].value);
	}
	buf_putc(&ident, '}');
	json_end(&j);
	*t = (struct series_text){
		.ident = buf_take(&ident), .labels = buf_take(&labels),
		.event = strdup(ser->metric->event), .name = strdup(ser->metric->name),
		.unit = strdup(ser->metric->unit), .kind = ser->metric->kind,
		.scale = ser->metric->scale,
	};
	return t->ident && t->labels && t->event && t->name && t->unit ? 0 : -ENOMEM;
}

/* Describes the series as it is in the registry. -ENOENT: it has expired. */
static int describe_series(struct store *s, struct series_chunks *w, uint32_t id, struct series_text *text)
{
	const struct series *ser;
	int err = -ENOENT;

	pthread_rwlock_rdlock(&s->registry->lock);
	ser = registry_get(s->registry, id);
	if (ser) {
		w->kind = ser->metric->kind;
		w->start_ns = ser->start_ns - ser->start_ns % 1000;
		err = make_series_text(ser, text);
	}
	pthread_rwlock_unlock(&s->registry->lock);
	return err;
}

/* Looks the series up in the registry and in the database. */
static int look_up_series(struct store *s, struct series_chunks *w, uint32_t id)
{
	scoped(text_done) struct series_text text = { 0 };
	int err = describe_series(s, w, id, &text);

	if (err == 0)
		err = sql_find_or_add_series(s, &text, &w->key);
	if (err < 0)
		return err;
	for (int level = CHUNK_10S; level < CHUNK_LEVELS; level++)
		rollup_init(&w->rollups[level], level, w->kind);
	return replay_tail(s, w);
}

/* Index of the series, or where to insert it. */
static size_t find_index(const struct store *s, uint32_t id)
{
	size_t low = 0, high = s->series.n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (s->series.v[mid]->id < id)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static struct series_chunks *find_or_add(struct store *s, uint32_t id)
{
	size_t at = find_index(s, id);
	struct series_chunks *w;

	if (at < s->series.n && s->series.v[at]->id == id)
		return s->series.v[at];
	w = calloc(1, sizeof(*w));
	if (!w || !vec_add(&s->series)) {
		free(w);
		return NULL;
	}
	memmove(s->series.v + at + 1, s->series.v + at, (s->series.n - 1 - at) * sizeof(*s->series.v));
	w->id = id;
	s->series.v[at] = w;
	return w;
}

/* The transaction that created the key was rolled back: the series has to be looked up again. */
static void reset_key(struct series_chunks *w)
{
	w->key = 0;
	for (int level = 0; level < CHUNK_LEVELS; level++) {
		w->open[level].n = 0;
		w->dirty[level] = false;
	}
}

/* One transaction for all new series: one for each of a thousand series would cost more than
 * everything else. */
void open_chunks_look_up_new(struct store *s)
{
	bool begun = false, committed;

	for (size_t i = 0; i < s->work.n; i++) {
		uint32_t id = s->work.v[i].point.series;
		struct series_chunks *w = find_or_add(s, id);

		if (!w || w->key)
			continue;
		if (!begun && sql_begin(s) < 0)
			return;			/* the disk may have space later */
		begun = true;
		w->looked_up_now = true;
		if (look_up_series(s, w, id) < 0)
			reset_key(w);
	}
	committed = begun && sql_end(s, true) == 0;
	for (size_t i = 0; begun && i < s->series.n; i++) {
		if (!s->series.v[i]->looked_up_now)
			continue;
		s->series.v[i]->looked_up_now = false;
		if (!committed)
			reset_key(s->series.v[i]);
	}
}

int open_chunks_restore_series(struct store *s)
{
	int err = 0;

	for (size_t i = 0; err == 0 && i < s->series.n; i++) {
		scoped(text_done) struct series_text text = { 0 };
		struct series_chunks *w = s->series.v[i];

		if (!w->key)
			continue;
		for (int level = 0; level < CHUNK_LEVELS; level++)
			w->dirty[level] = w->dirty[level] || w->open[level].n;
		err = describe_series(s, w, w->id, &text);
		err = err == -ENOENT ? 0 : err < 0 ? err : sql_restore_series(s, w->key, &text);
	}
	return err;
}

/* ---- chunks ---- */

/* Drops the oldest closed chunks until the rest is within the limit. */
void open_chunks_enforce_limit(struct store *s)
{
	size_t n = 0;

	while (s->closed_bytes > pending_max(s) && n < s->closed.n) {
		struct closed_chunk *c = &s->closed.v[n++];

		pthread_mutex_lock(&s->lock);
		s->status.n_points_dropped += c->level == CHUNK_FULL ? c->n : 0;
		pthread_mutex_unlock(&s->lock);
		s->closed_bytes -= c->n_bytes;
		free(c->bytes);
	}
	if (n)
		memmove(s->closed.v, s->closed.v + n, (s->closed.n - n) * sizeof(*s->closed.v));
	s->closed.n -= n;
}

static int close_chunk(struct store *s, struct series_chunks *w, struct chunk *c)
{
	struct closed_chunk *out = vec_add(&s->closed);
	char *bytes = malloc(c->bytes.n);

	if (!out || !bytes) {
		free(bytes);
		if (out)
			s->closed.n--;
		return -ENOMEM;
	}
	memcpy(bytes, c->bytes.bytes, c->bytes.n);
	*out = (struct closed_chunk){ w->key, c->level, c->from_ns, c->to_ns, c->n, .n_bytes = c->bytes.n };
	out->bytes = bytes;
	s->closed_bytes += c->bytes.n;
	c->n = 0;
	w->dirty[c->level] = false;
	return 0;
}

static int add_point(struct store *s, struct series_chunks *w, enum chunk_level level,
		     const struct chunk_point *p)
{
	struct chunk *c = &w->open[level];
	int err = 0;

	if (c->n && (c->n >= CHUNK_MAX_POINTS || c->bytes.n >= CHUNK_MAX_BYTES ||
		     c->start_ns != w->start_ns || p->time_ns / 1000 <= c->to_ns / 1000))
		err = close_chunk(s, w, c);
	if (c->n == 0)
		chunk_begin(c, level, w->kind, w->start_ns);
	chunk_add(c, p);
	w->dirty[level] = true;
	return buf_failed(&c->bytes) ? -ENOMEM : err;
}

/* The share of time that the counter ran since the previous point. */
static double share_since(struct series_chunks *w, const struct point *p)
{
	uint64_t enabled = p->enabled_ns - w->enabled_ns, running = p->running_ns - w->running_ns;
	bool fell = p->enabled_ns < w->enabled_ns || p->running_ns < w->running_ns;

	w->enabled_ns = p->enabled_ns;
	w->running_ns = p->running_ns;
	return fell || enabled == 0 || running >= enabled ? 1 : (double)running / (double)enabled;
}

int open_chunks_add(struct store *s, const struct queued_point *t)
{
	struct series_chunks *w = find_or_add(s, t->point.series);
	struct chunk_point p = { .time_ns = t->time_ns, .state = t->point.state,
				 .count = t->point.count, .value = t->point.value }, bucket;
	int err = 0;

	if (!w || !w->key)
		return -EIO;
	/* The wall clock was set back. If only a little, skip points until the old time is reached;
	 * otherwise the old time was wrong: continue with the new one. */
	if (w->last_ns && t->time_ns / 1000 <= w->last_ns / 1000 &&
	    w->last_ns - t->time_ns < CLOCK_STEP_BACK_NS)
		return -ESTALE;
	w->last_ns = t->time_ns;
	p.share = share_since(w, &t->point);
	err = add_point(s, w, CHUNK_FULL, &p);
	for (int level = CHUNK_10S; err == 0 && level < CHUNK_LEVELS; level++)
		if (rollup_add(&w->rollups[level], &p, w->start_ns, &bucket))
			err = add_point(s, w, level, &bucket);
	return err;
}

/* ---- flushing ---- */

static int flush_series(struct store *s, struct series_chunks *w)
{
	int err = 0;

	for (int level = 0; err == 0 && level < CHUNK_LEVELS; level++) {
		const struct chunk *c = &w->open[level];

		if (w->dirty[level] && c->n)
			err = sql_write_chunk(
				s, &(struct closed_chunk){ w->key, level, c->from_ns, c->to_ns,
							   c->n, c->bytes.bytes, c->bytes.n });
	}
	return err;
}

int open_chunks_write(struct store *s)
{
	int err = 0;

	for (size_t i = 0; err == 0 && i < s->closed.n; i++)
		err = sql_write_chunk(s, &s->closed.v[i]);
	for (size_t i = 0; err == 0 && i < s->series.n; i++) {
		struct series_chunks *w = s->series.v[i];

		if (!w->key || !(w->dirty[0] || w->dirty[1] || w->dirty[2]))
			continue;
		err = flush_series(s, w);
		if (err == 0)
			err = sql_update_last_time(s, w->key, w->last_ns);
	}
	return err;
}

void open_chunks_written(struct store *s)
{
	for (size_t i = 0; i < s->closed.n; i++)
		free(s->closed.v[i].bytes);
	s->closed.n = 0;
	s->closed_bytes = 0;
	for (size_t i = 0; i < s->series.n; i++)
		memset(s->series.v[i]->dirty, 0, sizeof(s->series.v[i]->dirty));
}

void open_chunks_expire(struct store *s, int64_t before_ns)
{
	size_t kept = 0;

	for (size_t i = 0; i < s->series.n; i++) {
		struct series_chunks *w = s->series.v[i];

		if (w->last_ns < before_ns && !w->dirty[0] && !w->dirty[1] && !w->dirty[2])
			free_series_chunks(w);
		else
			s->series.v[kept++] = w;
	}
	s->series.n = kept;
}
