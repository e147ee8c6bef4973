/*
 * The API's pages about counters: status, series, ranges, events. The answers are JSON with a
 * `schema`; times are in milliseconds since 1970; a missing value is null and comes with a reason.
 */
#include "agent/http/request.h"

#include <errno.h>
#include <stdio.h>

#include "agent/core/collector.h"
#include "agent/core/remote_config.h"
#include "agent/profiler/profiler.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/vec.h"

#define MAX_SERIES 2000			/* series of one query */
#define MAX_POINTS 1000000		/* points of one query */

static struct json begin_json(struct request *q, const char *schema)
{
	struct json j = { .out = &q->out };

	json_begin(&j, '{');
	json_member(&j, "schema", str, schema);
	return j;
}

static void end_json(struct request *q, struct json *j)
{
	json_end(j);
	buf_putc(&q->out, '\n');
}

static void put_labels(struct json *j, const struct series *s)
{
	json_key(j, "labels");
	json_begin(j, '{');
	for (size_t i = 0; i < s->n_labels; i++)
		json_member(j, s->labels[i].name, str, s->labels[i].value);
	json_end(j);
}

static void put_store(struct request *q, struct json *j)
{
	struct store_status st;

	json_key(j, "store");
	if (!q->agent->store) {
		json_null(j);
		return;
	}
	store_status(q->agent->store, &st);
	json_begin(j, '{');
	json_member(j, "bytes", u64, st.bytes);
	json_member(j, "points_written", u64, st.n_points_written);
	json_member(j, "points_dropped", u64, st.n_points_dropped);
	json_member(j, "flushes", u64, st.n_flushes);
	json_member(j, "flush_seconds", double, st.flush_s);
	json_member(j, "oldest", i64, st.oldest_ns / 1000000);
	json_member(j, "error", str, st.last_error[0] ? st.last_error : NULL);
	json_member(j, "salvages", u64, st.n_salvages);
	json_member(j, "salvaged", str, st.salvaged[0] ? st.salvaged : NULL);
	json_end(j);
}

static void put_profiler(struct request *q, struct json *j)
{
	struct profiler_status st;

	json_key(j, "profiler");
	if (!q->agent->profiler) {
		json_null(j);
		return;
	}
	profiler_status(q->agent->profiler, &st);
	json_begin(j, '{');
	json_member(j, "running", bool, st.running);
	json_member(j, "event", str, st.event);
	json_member(j, "frequency", u64, st.frequency);
	json_member(j, "samples", u64, st.samples);
	json_member(j, "lost", u64, st.lost);
	json_member(j, "broken_stacks", u64, st.broken);
	json_member(j, "windows", u64, st.windows);
	json_member(j, "why", str, st.why[0] ? st.why : NULL);
	json_end(j);
}

static void put_remote(struct agent *a, struct json *j)
{
	struct remote_status st = { .url = "" };

	if (a->remote)
		remote_reader_status(a->remote, &st);
	if (!st.url[0])
		return;
	json_key(j, "remote");
	json_begin(j, '{');
	json_member(j, "url", str, st.url);
	json_member(j, "etag", str, st.etag);
	json_member(j, "asked", i64, st.asked_ns / 1000000);
	json_member(j, "changed", i64, st.changed_ns / 1000000);
	json_member(j, "error", str, st.error[0] ? st.error : NULL);
	json_end(j);
}

void page_status(struct request *q)
{
	struct agent *a = q->agent;
	struct json j;

	if (request_wants_text(q)) {
		text_status(q);
		return;
	}
	j = begin_json(q, "tacho.status.v1");
	pthread_rwlock_rdlock(&a->config_lock);
	json_member(&j, "version", str, TACHO_VERSION);
	json_member(&j, "host", str, a->host);
	json_member(&j, "pid", i64, getpid());
	json_member(&j, "now", i64, clock_wall_ns() / 1000000);
	json_member(&j, "started", i64, a->started_ns / 1000000);
	json_member(&j, "config", str, a->config->path);
	json_member(&j, "config_kind", str, a->config->kind);
	json_member(&j, "sources", u64, a->config->n_sources);
	pthread_rwlock_unlock(&a->config_lock);
	put_remote(a, &j);
	json_member(&j, "ticks", u64, a->stats.ticks);
	json_member(&j, "missed_ticks", u64, a->stats.missed_ticks);
	put_store(q, &j);
	put_profiler(q, &j);
	end_json(q, &j);
}

/* A line for each part that does not work: the store cannot be written, a receiver refuses or is unreachable. */
static void put_problems(const struct agent *a, struct buf *out)
{
	struct exporter_status exporters[64];
	size_t n = a->exporters ? exporters_status(a->exporters, exporters, countof(exporters)) : 0;
	struct store_status st = { .bytes = 0 };
	struct remote_status remote = { .url = "" };

	if (a->store)
		store_status(a->store, &st);
	if (st.last_error[0])
		buf_printf(out, "store: %s\n", st.last_error);
	if (a->remote)
		remote_reader_status(a->remote, &remote);
	if (remote.error[0])
		buf_printf(out, "remote configuration: %s\n", remote.error);
	for (size_t i = 0; i < n; i++)
		if (!exporters[i].connected && exporters[i].last_error[0])
			buf_printf(out, "export %s: %s\n", exporters[i].name, exporters[i].last_error);
}

void page_health(struct request *q)
{
	q->type = "text/plain; charset=utf-8";
	if (!request_arg(q, "live"))
		put_problems(q->agent, &q->out);
	if (q->out.n)
		q->status = 503;
	else
		buf_puts(&q->out, "ok\n");
}

void page_metrics(struct request *q)
{
	const char *accept = MHD_lookup_connection_value(q->connection, MHD_HEADER_KIND, "Accept");
	bool om = accept && strstr(accept, "application/openmetrics-text");

	q->type = om ? "application/openmetrics-text; version=1.0.0; charset=utf-8"
		     : "text/plain; version=0.0.4; charset=utf-8";
	prometheus_text(q->agent, om, q->right >= RIGHT_SCRAPE, &q->out);
}

/* ---- current series ---- */

static void put_series(struct json *j, const struct series *s)
{
	bool counted = s->last.state <= TACHO_SCALED && s->time_ns;
	bool counter = s->metric->kind == METRIC_COUNTER;

	json_begin(j, '{');
	json_member(j, "id", u64, s->id);
	json_member(j, "event", str, s->metric->event);
	json_member(j, "name", str, s->metric->name);
	json_member(j, "unit", str, s->metric->unit);
	json_member(j, "kind", str, counter ? "counter" : "gauge");
	put_labels(j, s);
	json_member(j, "state", str, series_state_name(s));
	json_member(j, "reason", str, s->why);
	json_member(j, "time", i64, s->time_ns / 1000000);
	json_key(j, "value");
	if (counted)
		put_value(j, s->last.value);
	else
		json_null(j);
	if (counter) {
		json_member(j, "raw", u64, s->last.raw);
		json_member(j, "enabled_ns", u64, s->last.enabled_ns);
		json_member(j, "running_ns", u64, s->last.running_ns);
		json_member(j, "start", i64, s->start_ns / 1000000);
	}
	json_member(j, "ended", bool, s->ended);
	json_end(j);
}

static bool is_selected(const struct series *s, const char *event, const char *source)
{
	return s && (!event || str_glob(str_of(event), str_of(s->metric->event))) &&
	       (!source || !strcmp(source, s->source));
}

void page_series(struct request *q)
{
	const char *event = request_arg(q, "event"), *source = request_arg(q, "source");
	struct registry *r = &q->agent->registry;
	struct json j;

	if (request_wants_text(q)) {
		text_series(q);
		return;
	}
	j = begin_json(q, "tacho.series.v1");
	pthread_rwlock_rdlock(&r->lock);
	json_member(&j, "generation", u64, r->generation);
	json_key(&j, "series");
	json_begin(&j, '[');
	for (size_t i = 0; i < r->n; i++)
		if (is_selected(r->series[i], event, source))
			put_series(&j, r->series[i]);
	json_end(&j);
	pthread_rwlock_unlock(&r->lock);
	end_json(q, &j);
}

/* ---- ranges ---- */

/* Copies of the series that a query selects. */
struct series_list {
	struct { struct store_series *v; size_t n, cap; } list;
	bool too_many;
};

static int add_series(void *arg, const struct store_series *row)
{
	struct series_list *f = arg;
	struct store_series *copy;

	if (f->list.n >= MAX_SERIES) {
		f->too_many = true;
		return 1;
	}
	copy = vec_add(&f->list);
	if (!copy)
		return -ENOMEM;
	*copy = *row;
	copy->event = strdup(row->event);
	copy->name = NULL;
	copy->unit = strdup(row->unit);
	copy->labels = strdup(row->labels);
	return copy->event && copy->unit && copy->labels ? 0 : -ENOMEM;
}

static void series_list_done(struct series_list *f)
{
	for (size_t i = 0; i < f->list.n; i++) {
		free((char *)f->list.v[i].event);
		free((char *)f->list.v[i].unit);
		free((char *)f->list.v[i].labels);
	}
	vec_done(&f->list);
}

/* State of writing the answer. Points arrive series by series: a new key ends one JSON object and
 * begins the next. */
struct query_answer {
	struct json *j;
	const struct series_list *series_list;
	uint64_t key, left;		/* left: points that may still be written */
	bool open;
};

static void close_series(struct query_answer *a)
{
	if (!a->open)
		return;
	json_end(a->j);
	json_end(a->j);
	a->open = false;
}

static void open_series(struct query_answer *a, uint64_t key)
{
	close_series(a);
	for (size_t i = 0; i < a->series_list->list.n; i++) {
		const struct store_series *s = &a->series_list->list.v[i];

		if (s->key != key)
			continue;
		json_begin(a->j, '{');
		json_member(a->j, "event", str, s->event);
		json_member(a->j, "unit", str, s->unit);
		json_member(a->j, "kind", str, s->kind == METRIC_COUNTER ? "counter" : "gauge");
		json_key(a->j, "labels");
		json_raw(a->j, s->labels);
		json_key(a->j, "points");
		json_begin(a->j, '[');
		a->open = true;
		a->key = key;
		return;
	}
}

static int put_point(void *arg, const struct store_point *p)
{
	struct query_answer *a = arg;
	char time[48];

	if (!a->left--)
		return -EFBIG;
	if (!a->open || a->key != p->key)
		open_series(a, p->key);
	if (!a->open)
		return 0;
	/* With microseconds, because two reads may fall into the same millisecond. */
	if (p->time_ns % 1000000 >= 1000)
		snprintf(time, sizeof(time), "%lld.%03lld", (long long)(p->time_ns / 1000000),
			 (long long)(p->time_ns / 1000 % 1000));
	else
		snprintf(time, sizeof(time), "%lld", (long long)(p->time_ns / 1000000));
	json_begin(a->j, '[');
	json_raw(a->j, time);
	put_value(a->j, p->value);
	put_value(a->j, p->min);
	put_value(a->j, p->max);
	put_value(a->j, p->running_share);
	json_end(a->j);
	return 0;
}

static bool parse_query(struct request *q, struct store_query *out, uint64_t *limit)
{
	static const char *const funcs[] = { "value", "rate", "increase" };
	const char *func = request_arg(q, "func");
	int64_t now = clock_wall_ns();
	uint64_t max;

	out->func = STORE_RATE;
	for (size_t i = 0; func && i < countof(funcs); i++)
		if (!strcmp(func, funcs[i])) {
			out->func = (enum store_func)i;
			func = NULL;
		}
	if (func) {
		request_fail(q, 400, "'func' must be one of value, rate and increase, not '%s'", func);
		return false;
	}
	if (!request_time(q, "from", now - 3600000000000, &out->from_ns) ||
	    !request_time(q, "to", now, &out->to_ns) ||
	    !request_duration(q, "step", 0, &out->step_ns) || !request_u64(q, "max", 0, &max) ||
	    !request_u64(q, "limit", MAX_POINTS, limit))
		return false;
	*limit = min_of(*limit, (uint64_t)MAX_POINTS);
	out->max_points = (size_t)min_of(max, 11000u);
	if (!out->step_ns && !request_arg(q, "step"))
		out->step_ns = max_of((out->to_ns - out->from_ns) / 1000, (int64_t)0);
	return true;
}

static void run_query(struct request *q, struct store_query *sq, const struct series_list *f,
		      uint64_t limit)
{
	scoped(freep) uint64_t *keys = calloc(f->list.n + 1, sizeof(*keys));
	struct json j = begin_json(q, "tacho.query.v1");
	struct query_answer a = { .j = &j, .series_list = f, .left = limit };
	struct tacho_error e = { .column = -1 };
	int err;

	if (!keys) {
		request_fail(q, 500, "out of memory");
		return;
	}
	for (size_t i = 0; i < f->list.n; i++)
		keys[i] = f->list.v[i].key;
	sq->keys = keys;
	sq->n_keys = f->list.n;
	json_member(&j, "from", i64, sq->from_ns / 1000000);
	json_member(&j, "to", i64, sq->to_ns / 1000000);
	json_member(&j, "step", double, (double)sq->step_ns * 1e-6);
	json_member(&j, "truncated", bool, f->too_many);
	json_key(&j, "series");
	json_begin(&j, '[');
	err = store_query(q->agent->store, sq, put_point, &a, &e);
	if (err == -EFBIG)
		error_set(&e, -EINVAL,
			  "the answer would exceed %llu points: use a larger step, a shorter range "
			  "or fewer series",
			  (unsigned long long)limit);
	if (err < 0) {
		request_error(q, &e);
		return;
	}
	close_series(&a);
	json_end(&j);
	end_json(q, &j);
}

void page_query(struct request *q)
{
	scoped(series_list_done) struct series_list f = { 0 };
	struct store_series_filter filter = { .event_glob = request_arg(q, "event"), .labels = request_arg(q, "label") };
	struct store_query sq = { 0 };
	uint64_t limit;

	if (!q->agent->store) {
		request_fail(q, 404, "there is no store: the agent was started with an empty --store");
		return;
	}
	if (!parse_query(q, &sq, &limit))
		return;
	filter.from_ns = sq.from_ns;
	if (store_series(q->agent->store, &filter, add_series, &f) < 0) {
		request_fail(q, 500, "cannot read the store");
		return;
	}
	run_query(q, &sq, &f, limit);
}

/* ---- states ---- */

static int put_event(void *arg, const struct event_status *st)
{
	struct json *j = arg;

	json_begin(j, '{');
	json_member(j, "source", str, st->source);
	json_member(j, "event", str, st->event);
	json_member(j, "original", str, st->original);
	json_member(j, "pmu", str, st->pmu);
	json_member(j, "unit", str, st->unit);
	json_member(j, "target", str, st->target);
	json_member(j, "per", str, st->per);
	json_member(j, "state", str, st->paused ? "paused" : tacho_state_name(st->state));
	json_member(j, "reason", str, st->why);
	json_member(j, "share", double, st->share);
	json_member(j, "counters", u64, st->n_counters);
	json_member(j, "series", u64, st->n_series);
	json_member(j, "interval_ms", double, (double)st->interval_ns * 1e-6);
	json_end(j);
	return 0;
}

void page_events(struct request *q)
{
	struct json j;

	if (request_wants_text(q)) {
		text_events(q);
		return;
	}
	j = begin_json(q, "tacho.events.v1");
	json_key(&j, "events");
	json_begin(&j, '[');
	collector_events(q->agent->collector, put_event, &j);
	json_end(&j);
	end_json(q, &j);
}

void page_config(struct request *q)
{
	q->type = "text/plain; charset=utf-8";
	pthread_rwlock_rdlock(&q->agent->config_lock);
	config_show(q->agent->config, true, &q->out);
	pthread_rwlock_unlock(&q->agent->config_lock);
}
