/*
 * OpenTelemetry metrics over OTLP/HTTP: a protobuf ExportMetricsServiceRequest. Counters are
 * monotonic cumulative sums with their start time, integers if they are plain counts below 2^63,
 * otherwise doubles. A series that ends gets a point with the flag "no recorded value".
 *
 * A receiver that accepts only part of a body returns the number of rejected points
 * (partial_success). Fewer statuses than for other exporters may be retried: 429, 502, 503 and 504.
 */
#include "agent/export/exporter.h"

#include <errno.h>
#include <stdio.h>

#include "agent/export/http_exporter.h"
#include "agent/core/metric_names.h"
#include "agent/export/point_view.h"
#include "base/gzip.h"
#include "base/protobuf.h"

/* Protobuf field numbers, by message. */
enum { REQUEST_RESOURCE_METRICS = 1, RM_RESOURCE = 1, RM_SCOPE_METRICS = 2, RESOURCE_ATTRIBUTE = 1,
       SM_SCOPE = 1, SM_METRIC = 2, SCOPE_NAME = 1, SCOPE_VERSION = 2, METRIC_NAME = 1, METRIC_HELP = 2,
       METRIC_UNIT = 3, METRIC_AS_GAUGE = 5, METRIC_AS_SUM = 7, DATA_POINT = 1, SUM_TEMPORALITY = 2,
       SUM_MONOTONIC = 3, POINT_START = 2, POINT_TIME = 3, POINT_DOUBLE = 4, POINT_INT = 6,
       POINT_ATTRIBUTE = 7, POINT_FLAGS = 8, KV_KEY = 1, KV_VALUE = 2, ANY_STRING = 1,
       RESPONSE_PARTIAL = 1, PARTIAL_REJECTED = 1, PARTIAL_MESSAGE = 2 };
enum { CUMULATIVE = 2, NO_RECORDED_VALUE = 1 };

struct otlp_settings {
	struct http_export_settings base;
	char *service;
	bool gzip;
};

struct otlp {
	struct http_exporter base;
	struct point_view points;
	struct seen_series seen;
	struct buf scope, metric, data, point, part, any;
};

#define AT(field) offsetof(struct otlp_settings, field)
static const struct config_key keys[] = {
	HTTP_KEYS(struct otlp_settings, base.http,
		  "the receiver's URL: \"http://host:4318\"; the default path is /v1/metrics"),
	{ KEY_STRING, "service", AT(service), "tacho", "the resource attribute service.name" },
	{ KEY_BOOL, "gzip", AT(gzip), "true", "compress the request bodies" },
	{ .kind = KEY_END },
};
#undef AT

/* The Content-Encoding header is fixed when the exporter is opened, so it cannot differ between
 * bodies. */
static const char *format(const void *settings)
{
	return ((const struct otlp_settings *)settings)->gzip ? "otlp+gzip" : "otlp";
}

static const struct otlp_settings *settings_of(const struct otlp *o)
{
	return (const struct otlp_settings *)o->base.settings;
}

static void close_exporter(void *x)
{
	struct otlp *o = x;

	http_exporter_done(&o->base);
	point_view_done(&o->points);
	seen_series_done(&o->seen);
	buf_done(&o->scope);
	buf_done(&o->metric);
	buf_done(&o->data);
	buf_done(&o->point);
	buf_done(&o->part);
	buf_done(&o->any);
	free(o);
}

static int open_exporter(void **out, const void *settings, const struct exporter_env *env,
			 struct tacho_error *e)
{
	const struct otlp_settings *s = settings;
	const char *headers[] = { "Content-Type: application/x-protobuf",
				  s->gzip ? "Content-Encoding: gzip" : NULL, NULL };
	struct otlp *o = http_exporter_new(sizeof(*o), settings, env);

	if (o)
		url_with_path(&o->base.url, s->base.http.url, "/v1/metrics");
	return http_exporter_open(out, o, NULL, headers, close_exporter, e);
}

static void put_attribute(struct otlp *o, struct buf *out, unsigned field, const char *key, const char *value)
{
	buf_clear(&o->any);
	buf_clear(&o->part);
	metric_put_utf8(&o->part, str_of(value));
	pb_message(&o->any, ANY_STRING, &o->part);
	buf_clear(&o->part);
	pb_bytes(&o->part, KV_KEY, str_of(key));
	pb_message(&o->part, KV_VALUE, &o->any);
	pb_message(out, field, &o->part);
}

/* Translates units to UCUM. */
static const char *ucum(const char *unit)
{
	static const struct { const char *ours, *theirs; } units[] = {
		{ "seconds", "s" }, { "bytes", "By" }, { "joules", "J" }, { "celsius", "Cel" },
		{ "ratio", "1" }, { "", "1" }, { "watts", "W" }, { "hertz", "Hz" }, { "percent", "%" },
	};

	for (size_t i = 0; i < countof(units); i++)
		if (!strcmp(units[i].ours, unit))
			return units[i].theirs;
	return unit;
}

enum otlp_field { VALUE, ENABLED, RUNNING };

static void put_value(struct otlp *o, const struct viewed_point *k, enum otlp_field which)
{
	if (!k->point)
		pb_u64(&o->point, POINT_FLAGS, NO_RECORDED_VALUE);
	else if (which != VALUE)
		pb_double(&o->point, POINT_DOUBLE,
			  (double)(which == ENABLED ? k->point->enabled_ns : k->point->running_ns) *
				  1e-9);
	else if (metric_is_count(k->series->metric) && k->point->count <= INT64_MAX)
		pb_fixed64(&o->point, POINT_INT, k->point->count);
	else
		pb_double(&o->point, POINT_DOUBLE, k->point->value);
}

static void put_point(struct otlp *o, const struct viewed_point *k, enum otlp_field which)
{
	buf_clear(&o->point);
	if (k->series->metric->kind == METRIC_COUNTER)
		pb_fixed64(&o->point, POINT_START, (uint64_t)k->series->start_ns);
	pb_fixed64(&o->point, POINT_TIME, (uint64_t)k->time_ns);
	put_value(o, k, which);
	for (size_t i = 0; i < k->series->n_labels; i++)
		put_attribute(o, &o->point, POINT_ATTRIBUTE, k->series->labels[i].name,
			      k->series->labels[i].value);
	pb_message(&o->data, DATA_POINT, &o->point);
}

/* One metric with the points of all its series. */
static void put_metric(struct otlp *o, const struct viewed_point *k, size_t n, enum otlp_field which)
{
	static const char *const suffixes[] = { "", "_enabled", "_running" };
	const struct metric *m = k->series->metric;
	bool counter = m->kind == METRIC_COUNTER;

	buf_clear(&o->data);
	for (size_t i = 0; i < n; i++)
		if (which == VALUE || viewed_point_is_scaled(&k[i]))
			put_point(o, &k[i], which);
	if (counter) {
		pb_u64(&o->data, SUM_TEMPORALITY, CUMULATIVE);
		pb_u64(&o->data, SUM_MONOTONIC, 1);
	}
	buf_clear(&o->metric);
	buf_clear(&o->part);
	buf_printf(&o->part, "%s%s", m->name, suffixes[which]);
	pb_message(&o->metric, METRIC_NAME, &o->part);
	pb_bytes(&o->metric, METRIC_HELP, str_of(m->help));
	pb_bytes(&o->metric, METRIC_UNIT, str_of(which == VALUE ? ucum(m->unit) : "s"));
	pb_message(&o->metric, counter ? METRIC_AS_SUM : METRIC_AS_GAUGE, &o->data);
	pb_message(&o->scope, SM_METRIC, &o->metric);
}

static int64_t put_metric_fields(struct otlp *o, const struct viewed_point *k, size_t n)
{
	bool scaled = false;
	int64_t points = 0;

	put_metric(o, k, n, VALUE);
	for (size_t i = 0; i < n; i++) {
		scaled = scaled || viewed_point_is_scaled(&k[i]);
		points += k[i].point != NULL;
	}
	if (scaled) {
		put_metric(o, k, n, ENABLED);
		put_metric(o, k, n, RUNNING);
	}
	return points;
}

static void put_resource(struct otlp *o, struct buf *out)
{
	const struct key_pairs *labels = &o->base.env->config->labels;

	buf_clear(out);
	put_attribute(o, out, RESOURCE_ATTRIBUTE, "host.name", o->base.env->host);
	put_attribute(o, out, RESOURCE_ATTRIBUTE, "service.name", settings_of(o)->service);
	for (size_t i = 0; i < labels->n; i++)
		put_attribute(o, out, RESOURCE_ATTRIBUTE, labels->v[i].name, labels->v[i].value);
}

static void put_scope(struct otlp *o)
{
	buf_clear(&o->scope);
	buf_clear(&o->part);
	pb_bytes(&o->part, SCOPE_NAME, STR_LIT("tacho"));
	pb_bytes(&o->part, SCOPE_VERSION, STR_LIT(TACHO_VERSION));
	pb_message(&o->scope, SM_SCOPE, &o->part);
}

/* Wraps the metrics into the resource and the request. */
static void put_request(struct otlp *o, struct buf *body)
{
	struct gzip z = { .out = body };

	put_resource(o, &o->data);
	buf_clear(&o->metric);
	pb_message(&o->metric, RM_RESOURCE, &o->data);
	pb_message(&o->metric, RM_SCOPE_METRICS, &o->scope);
	if (!settings_of(o)->gzip) {
		pb_message(body, REQUEST_RESOURCE_METRICS, &o->metric);
		return;
	}
	buf_clear(&o->data);
	pb_message(&o->data, REQUEST_RESOURCE_METRICS, &o->metric);
	body->bad = body->bad || buf_failed(&o->data);
	gzip_put(&z, o->data.bytes, o->data.n);
	gzip_finish(&z);
}

static int64_t encode(void *x, const struct point_batch *batches, size_t n, struct buf *body)
{
	struct otlp *o = x;
	int64_t points = 0;
	size_t from = 0;

	if (point_view_fill(&o->points, o->base.env, batches, n, true) < 0 ||
	    seen_series_update(&o->seen, o->base.env, &o->points) < 0)
		return -ENOMEM;
	point_view_sort(&o->points, POINTS_BY_METRIC);
	put_scope(o);
	for (size_t i = 1; i <= o->points.n; i++)
		if (i == o->points.n ||
		    o->points.v[i].series->metric != o->points.v[from].series->metric) {
			points += put_metric_fields(o, o->points.v + from, i - from);
			from = i;
		}
	if (o->points.n)
		put_request(o, body);
	return buf_failed(body) ? -ENOMEM : points;
}

/* Finds the partial_success message in the response; false: there is none, or the response cannot be
 * parsed. */
static bool find_partial(struct str answer, struct str *out)
{
	struct pb_field f;

	while (pb_next(&answer, &f) > 0)
		if (f.number == RESPONSE_PARTIAL && f.bytes.n) {
			*out = f.bytes;
			return true;
		}
	return false;
}

/* Reads how many points the receiver rejected, or its warning. */
static void read_partial_success(struct str answer, struct send_reply *reply)
{
	struct str partial, why = { 0 };
	struct pb_field f;
	char message[161];

	if (!find_partial(answer, &partial))
		return;
	while (pb_next(&partial, &f) > 0) {
		if (f.number == PARTIAL_REJECTED)
			reply->rejected = f.value <= INT64_MAX ? f.value : 0;
		else if (f.number == PARTIAL_MESSAGE)
			why = f.bytes;
	}
	http_answer_line(message, sizeof(message), why);
	if (reply->rejected)
		snprintf(reply->text, sizeof(reply->text), "the receiver rejected %llu points%s%s",
			 (unsigned long long)reply->rejected, message[0] ? ": " : "", message);
	else if (message[0])
		snprintf(reply->text, sizeof(reply->text), "the receiver warns: %s", message);
}

/* Also after a redirect: the body is kept until the URL is corrected. */
static bool may_retry(long status)
{
	return status / 100 == 3 || !status || status == 429 || (status >= 502 && status <= 504);
}

static enum send_result send_body(void *x, const struct export_body *s, struct send_reply *reply)
{
	struct otlp *o = x;
	enum send_result result = http_exporter_ship(o, s, reply);

	if (result == SEND_DONE)
		read_partial_success(http_client_answer(o->base.http), reply);
	else if (result == SEND_RETRY && !may_retry(http_client_status(o->base.http)))
		result = SEND_DROP;
	return result;
}

const struct exporter_type export_otlp = {
	.name = "otlp",
	.help = "OpenTelemetry metrics over OTLP/HTTP, as protobuf",
	.keys = keys,
	.settings_size = sizeof(struct otlp_settings),
	.check = http_exporter_check,
	.format = format,
	.open = open_exporter,
	.encode = encode,
	.renames = true,
	.send_body = send_body,
	.close = close_exporter,
};
