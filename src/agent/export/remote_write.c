/*
 * Prometheus remote write 1.0: a protobuf WriteRequest, compressed with snappy. Names, labels and
 * values are those of /metrics; job and instance are added as a scrape would. A series that ends
 * gets Prometheus' stale marker.
 *
 * Values are doubles: a counter above 2^53 is rounded, which is insignificant for rate().
 */
#include "agent/export/exporter.h"

#include <errno.h>
#include <math.h>

#include "agent/export/http_exporter.h"
#include "agent/core/metric_names.h"
#include "agent/export/point_view.h"
#include "agent/export/snappy.h"
#include "base/protobuf.h"
#include "base/vec.h"

/* Protobuf field numbers of WriteRequest and its submessages. */
enum { REQUEST_SERIES = 1, REQUEST_METADATA = 3, SERIES_LABEL = 1, SERIES_SAMPLE = 2, LABEL_NAME = 1,
       LABEL_VALUE = 2, SAMPLE_VALUE = 1, SAMPLE_TIME = 2, META_TYPE = 1, META_NAME = 2, META_HELP = 4,
       META_UNIT = 5 };
enum { TYPE_COUNTER = 1, TYPE_GAUGE = 2 };

#define NAN_STALE 0x7ff0000000000002ull		/* stale marker: the series has ended */
#define NAN_VALUE 0x7ff8000000000001ull		/* any other NaN */

struct remote_write_settings {
	struct http_export_settings base;
	char *job;
};

struct remote_write {
	struct http_exporter base;
	struct point_view points;
	struct seen_series seen;
	struct { const struct metric **v; size_t n, cap; } described;
	struct buf request, series, part, name, value;
};

static const struct config_key keys[] = {
	HTTP_KEYS(struct remote_write_settings, base.http,
		  "the receiver's URL: \"http://host:9090/api/v1/write\""),
	{ KEY_STRING, "job", offsetof(struct remote_write_settings, job), "tacho",
	  "the value of the label job" },
	{ .kind = KEY_END },
};

static void close_exporter(void *x)
{
	struct remote_write *w = x;

	http_exporter_done(&w->base);
	point_view_done(&w->points);
	seen_series_done(&w->seen);
	vec_done(&w->described);
	buf_done(&w->request);
	buf_done(&w->series);
	buf_done(&w->part);
	buf_done(&w->name);
	buf_done(&w->value);
	free(w);
}

static int open_exporter(void **out, const void *settings, const struct exporter_env *env,
			 struct tacho_error *e)
{
	static const char *const headers[] = {
		"Content-Type: application/x-protobuf", "Content-Encoding: snappy",
		"X-Prometheus-Remote-Write-Version: 0.1.0", NULL,
	};
	struct remote_write *w = http_exporter_new(sizeof(*w), settings, env);

	if (w)
		buf_puts(&w->base.url, w->base.settings->http.url);
	return http_exporter_open(out, w, NULL, headers, close_exporter, e);
}

static void put_label(struct remote_write *w, const char *name, const char *value)
{
	buf_clear(&w->part);
	pb_bytes(&w->part, LABEL_NAME, str_of(name));
	buf_clear(&w->value);
	metric_put_utf8(&w->value, str_of(value));
	pb_message(&w->part, LABEL_VALUE, &w->value);
	pb_message(&w->series, SERIES_LABEL, &w->part);
}

/* Labels have to be sorted, including the metric's name. */
static void put_labels(struct remote_write *w, const struct series *s, const char *suffix)
{
	struct label_view labels[LABELS_MAX], more[] = {
		{ "__name__", NULL },
		{ "instance", w->base.env->host },
		{ "job", ((const struct remote_write_settings *)w->base.settings)->job },
		{ NULL, NULL },
	};
	size_t n;

	buf_clear(&w->name);
	metric_put_full_name(&w->name, s->metric);
	buf_puts(&w->name, suffix);
	buf_puts(&w->name, metric_total_suffix(s->metric));
	more[0].value = w->name.bytes ? w->name.bytes : "";
	w->series.bad = w->series.bad || buf_failed(&w->name);
	n = metric_labels(s, w->base.env->config, more, labels);
	for (size_t i = 0; i < n; i++)
		put_label(w, labels[i].name, labels[i].value);
}

static void put_sample(struct remote_write *w, uint64_t bits, int64_t time_ms)
{
	buf_clear(&w->part);
	pb_fixed64(&w->part, SAMPLE_VALUE, bits);
	pb_u64(&w->part, SAMPLE_TIME, (uint64_t)time_ms);
	pb_message(&w->series, SERIES_SAMPLE, &w->part);
}

enum remote_write_field { VALUE, ENABLED, RUNNING };

static uint64_t sample_bits(const struct viewed_point *k, enum remote_write_field field)
{
	double v = !k->point ? 0 : field == VALUE ? k->point->value :
		   (double)(field == ENABLED ? k->point->enabled_ns : k->point->running_ns) * 1e-9;
	uint64_t bits = NAN_STALE;

	if (k->point && isnan(v))
		bits = NAN_VALUE;
	else if (k->point)
		memcpy(&bits, &v, sizeof(bits));
	return bits;
}

/* One series with all its samples. Of two samples within a millisecond the later is sent. */
static int64_t put_series(struct remote_write *w, const struct viewed_point *k, size_t n,
			  enum remote_write_field field)
{
	static const char *const suffixes[] = { "", "_enabled_seconds", "_running_seconds" };
	int64_t n_points = 0;

	buf_clear(&w->series);
	put_labels(w, k->series, suffixes[field]);
	for (size_t i = 0; i < n; i++) {
		if (i + 1 < n && k[i + 1].time_ns / 1000000 == k[i].time_ns / 1000000)
			continue;
		put_sample(w, sample_bits(&k[i], field), k[i].time_ns / 1000000);
		n_points += k[i].point && field == VALUE;
	}
	pb_message(&w->request, REQUEST_SERIES, &w->series);
	return n_points;
}

/* Sends the metadata of a metric once per connection. */
static int put_metadata(struct remote_write *w, const struct metric *m)
{
	const struct metric **place;

	for (size_t i = 0; i < w->described.n; i++)
		if (w->described.v[i] == m)
			return 0;
	place = vec_add(&w->described);
	if (!place)
		return -ENOMEM;
	*place = m;
	buf_clear(&w->part);
	buf_clear(&w->name);
	metric_put_full_name(&w->name, m);
	buf_puts(&w->name, metric_total_suffix(m));
	pb_u64(&w->part, META_TYPE, m->kind == METRIC_COUNTER ? TYPE_COUNTER : TYPE_GAUGE);
	pb_message(&w->part, META_NAME, &w->name);
	pb_bytes(&w->part, META_HELP, str_of(m->help));
	pb_bytes(&w->part, META_UNIT, str_of(m->unit));
	pb_message(&w->request, REQUEST_METADATA, &w->part);
	return 0;
}

/* The samples of one series: its values, and if one was scaled, also the times. */
static int64_t put_series_fields(struct remote_write *w, const struct viewed_point *k, size_t n)
{
	int64_t n_points = put_series(w, k, n, VALUE);
	bool scaled = false;

	for (size_t i = 0; i < n; i++)
		scaled = scaled || viewed_point_is_scaled(&k[i]);
	if (scaled) {
		put_series(w, k, n, ENABLED);
		put_series(w, k, n, RUNNING);
	}
	return n_points;
}

static int64_t encode(void *x, const struct point_batch *batches, size_t n, struct buf *body)
{
	struct remote_write *w = x;
	int64_t points = 0;
	size_t from = 0;

	if (point_view_fill(&w->points, w->base.env, batches, n, true) < 0 ||
	    seen_series_update(&w->seen, w->base.env, &w->points) < 0)
		return -ENOMEM;
	point_view_sort(&w->points, POINTS_BY_SERIES);
	buf_clear(&w->request);
	for (size_t i = 1; i <= w->points.n; i++)
		if (i == w->points.n || w->points.v[i].series != w->points.v[from].series) {
			if (put_metadata(w, w->points.v[from].series->metric) < 0)
				return -ENOMEM;
			points += put_series_fields(w, w->points.v + from, i - from);
			from = i;
		}
	if (buf_failed(&w->request))
		return -ENOMEM;
	return !w->points.n ? 0 : snappy_block(buf_view(&w->request), body) < 0 ? -ENOMEM : points;
}

const struct exporter_type export_remote_write = {
	.name = "remote_write",
	.help = "Prometheus remote write 1.0: Prometheus, Mimir, Thanos, VictoriaMetrics, InfluxDB and others",
	.keys = keys,
	.settings_size = sizeof(struct remote_write_settings),
	.check = http_exporter_check,
	.open = open_exporter,
	.encode = encode,
	.renames = true,
	.send_body = http_exporter_ship,
	.close = close_exporter,
};
