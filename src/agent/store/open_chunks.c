/*
 * The series as they are being written: each has one open chunk per level. A flush writes the open
 * ones too, in full, over what they were; a chunk that has grown large enough is closed.
 */
#include "agent/store/store_internal.h"

#include <errno.h>

#include "base/json.h"
#include "base/vec.h"

#define STEP_BACK_NS 60000000000

static void free_writing(struct writing *w)
{
	if (!w)
		return;
	for (int level = 0; level < CHUNK_LEVELS; level++)
		chunk_done(&w->open[level]);
	free(w);
}

void writing_free(struct store *s)
{
	for (size_t i = 0; i < s->series.n; i++)
		free_writing(s->series.v[i]);
	vec_done(&s->series);
	for (size_t i = 0; i < s->closed.n; i++)
		free(s->closed.v[i].bytes);
	vec_done(&s->closed);
}

/* ---- first sight ---- */

struct replay {
	struct writing *w;
	int64_t after_ns[CHUNK_LEVELS];
};

/* A point that an agent before us stored but did not roll up any more. */
static int replay_point(void *arg, const struct chunk_point *p, int64_t start_ns)
{
	struct replay *r = arg;
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

static int catch_up(struct store *s, struct writing *w)
{
	struct replay r = { .w = w };
	int64_t from = INT64_MAX;

	for (int level = CHUNK_10S; level < CHUNK_LEVELS; level++) {
		int64_t last = sql_last_bucket(s, w->key, level);

		r.after_ns[level] = last ? last + rollup_bucket_ns[level] : 0;
		from = min_of(from, r.after_ns[level]);
	}
	return sql_tail(s, w->key, from, replay_point, &r);
}

static void text_done(struct series_text *t)
{
	free(t->ident);
	free(t->labels);
	free(t->event);
	free(t->name);
	free(t->unit);
}

/* `event{cpu="0",source="system"}`, and the labels once more as JSON. */
static int describe(const struct series *ser, struct series_text *t)
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

/* Looks the series up in the registry and in the file. */
static int meet(struct store *s, struct writing *w, uint32_t id)
{
	scoped(text_done) struct series_text text = { 0 };
	const struct series *ser;
	int err = -ENOENT;

	pthread_rwlock_rdlock(&s->registry->lock);
	ser = registry_get(s->registry, id);
	if (ser) {
		w->kind = ser->metric->kind;
		w->start_ns = ser->start_ns - ser->start_ns % 1000;
		err = describe(ser, &text);
	}
	pthread_rwlock_unlock(&s->registry->lock);
	if (err == 0)
		err = sql_series(s, &text, &w->key);
	if (err < 0)
		return err;
	for (int level = CHUNK_10S; level < CHUNK_LEVELS; level++)
		rollup_init(&w->rollups[level], level, w->kind);
	return catch_up(s, w);
}

/* Where it is, or would be. */
static size_t place_of(const struct store *s, uint32_t id)
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

static struct writing *find(struct store *s, uint32_t id)
{
	size_t at = place_of(s, id);
	struct writing *w;

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

/* The key went with its transaction; the series is met once more. */
static void forget_key(struct writing *w)
{
	w->key = 0;
	for (int level = 0; level < CHUNK_LEVELS; level++) {
		w->open[level].n = 0;
		w->dirty[level] = false;
	}
}

/* A transaction of its own for each series of a thousand would cost more than all that follows. */
void writing_meet(struct store *s)
{
	bool begun = false, held;

	for (size_t i = 0; i < s->work.n; i++) {
		uint32_t id = s->work.v[i].point.series;
		struct writing *w = find(s, id);

		if (!w || w->key)
			continue;
		if (!begun && sql_begin(s) < 0)
			return;			/* a full disk may get better */
		begun = true;
		w->met_now = true;
		if (meet(s, w, id) < 0)
			forget_key(w);
	}
	held = begun && sql_end(s, true) == 0;
	for (size_t i = 0; begun && i < s->series.n; i++) {
		if (!s->series.v[i]->met_now)
			continue;
		s->series.v[i]->met_now = false;
		if (!held)
			forget_key(s->series.v[i]);
	}
}

/* ---- chunks ---- */

/* Drops the oldest that wait, until the bound is kept. */
void writing_keep_bound(struct store *s)
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

static int close_chunk(struct store *s, struct writing *w, struct chunk *c)
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

static int add_point(struct store *s, struct writing *w, enum chunk_level level,
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

/* The share of time that the counter ran since the point before. */
static double share_since(struct writing *w, const struct point *p)
{
	uint64_t enabled = p->enabled_ns - w->enabled_ns, running = p->running_ns - w->running_ns;
	bool fell = p->enabled_ns < w->enabled_ns || p->running_ns < w->running_ns;

	w->enabled_ns = p->enabled_ns;
	w->running_ns = p->running_ns;
	return fell || enabled == 0 || running >= enabled ? 1 : (double)running / (double)enabled;
}

int writing_take(struct store *s, const struct taken *t)
{
	struct writing *w = find(s, t->point.series);
	struct chunk_point p = { .time_ns = t->time_ns, .state = t->point.state,
				 .count = t->point.count, .value = t->point.value }, bucket;
	int err = 0;

	if (!w || !w->key)
		return -EIO;
	/* The clock was set back. A little: no second point for one time. Far: it was wrong before, and
	 * what comes must not wait for that time to come again. */
	if (w->last_ns && t->time_ns / 1000 <= w->last_ns / 1000 && w->last_ns - t->time_ns < STEP_BACK_NS)
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

static int flush_series(struct store *s, struct writing *w)
{
	int err = 0;

	for (int level = 0; err == 0 && level < CHUNK_LEVELS; level++) {
		const struct chunk *c = &w->open[level];

		if (w->dirty[level] && c->n)
			err = sql_chunk(s, w->key, level, c->from_ns, c->to_ns, c->n,
					buf_view(&c->bytes));
	}
	return err;
}

int writing_flush(struct store *s)
{
	int err = 0;

	for (size_t i = 0; err == 0 && i < s->closed.n; i++) {
		const struct closed_chunk *c = &s->closed.v[i];

		err = sql_chunk(s, c->key, c->level, c->from_ns, c->to_ns, c->n,
				str_n(c->bytes, c->n_bytes));
	}
	for (size_t i = 0; err == 0 && i < s->series.n; i++) {
		struct writing *w = s->series.v[i];

		if (!w->key || !(w->dirty[0] || w->dirty[1] || w->dirty[2]))
			continue;
		err = flush_series(s, w);
		if (err == 0)
			err = sql_touch(s, w->key, w->last_ns);
	}
	return err;
}

void writing_wrote(struct store *s)
{
	for (size_t i = 0; i < s->closed.n; i++)
		free(s->closed.v[i].bytes);
	s->closed.n = 0;
	s->closed_bytes = 0;
	for (size_t i = 0; i < s->series.n; i++)
		memset(s->series.v[i]->dirty, 0, sizeof(s->series.v[i]->dirty));
}

void writing_expire(struct store *s, int64_t before_ns)
{
	size_t kept = 0;

	for (size_t i = 0; i < s->series.n; i++) {
		struct writing *w = s->series.v[i];

		if (w->last_ns < before_ns && !w->dirty[0] && !w->dirty[1] && !w->dirty[2])
			free_writing(w);
		else
			s->series.v[kept++] = w;
	}
	s->series.n = kept;
}
