/*
 * InfluxDB's line protocol, for versions 1 (db) and 2 (bucket, org) and compatible receivers:
 *
 *	perf_context_switches,cpu=3,host=me,source=system value=42i 1700000000000000000
 *
 * Plain counts are integers. InfluxDB integers have 63 bits and a field never changes its type, so
 * larger counts wrap to 0, which non_negative_derivative() handles like a restart. The protocol has
 * no NaN or infinity; such values are left out.
 */
#include "agent/export/exporter.h"

#include <errno.h>
#include <math.h>

#include "agent/export/http_exporter.h"
#include "agent/core/metric_names.h"
#include "agent/export/point_view.h"
#include "base/error.h"

struct influxdb_settings {
	struct http_export_settings base;
	char *database, *retention_policy;
	char *bucket, *org;
};

struct influxdb {
	struct http_exporter base;
	struct point_view points;
};

#define AT(field) offsetof(struct influxdb_settings, field)
static const struct config_key keys[] = {
	HTTP_KEYS(struct influxdb_settings, base.http, "the receiver's URL: \"http://host:8086\""),
	{ KEY_STRING, "database", AT(database), NULL, "the database (version 1)" },
	{ KEY_STRING, "retention_policy", AT(retention_policy), NULL,
	  "the retention policy (version 1)" },
	{ KEY_STRING, "bucket", AT(bucket), NULL, "the bucket (version 2)" },
	{ KEY_STRING, "org", AT(org), NULL, "the organisation (version 2)" },
	{ .kind = KEY_END },
};
#undef AT

static int check(const void *settings, struct tacho_error *e)
{
	const struct influxdb_settings *s = settings;

	if (!s->database == !s->bucket)
		return error_set(e, -EINVAL, "either database (version 1) or bucket (version 2) is needed");
	if (s->org && !s->bucket)
		return error_set(e, -EINVAL, "org requires bucket");
	if (s->retention_policy && !s->database)
		return error_set(e, -EINVAL, "retention_policy requires database");
	return http_exporter_check(settings, e);
}

static void add_param(struct buf *url, const char *name, const char *value)
{
	if (!value)
		return;
	buf_printf(url, "&%s=", name);
	url_escape(url, str_of(value));
}

static void make_url(struct buf *url, const struct influxdb_settings *s)
{
	url_with_path(url, s->base.http.url, s->bucket ? "/api/v2/write" : "/write");
	buf_printf(url, "%cprecision=ns", strchr(url->bytes ? url->bytes : "", '?') ? '&' : '?');
	add_param(url, "db", s->database);
	add_param(url, "rp", s->retention_policy);
	add_param(url, "bucket", s->bucket);
	add_param(url, "org", s->org);
}

static void close_exporter(void *x)
{
	struct influxdb *db = x;

	http_exporter_done(&db->base);
	point_view_done(&db->points);
	free(db);
}

/* Version 2 uses its own authorization scheme for tokens. */
static int open_exporter(void **out, const void *settings, const struct exporter_env *env,
			 struct tacho_error *e)
{
	const char *headers[] = { "Content-Type: text/plain; charset=utf-8", NULL, NULL };
	const struct influxdb_settings *s = settings;
	struct http_settings http = s->base.http;
	struct influxdb *db = http_exporter_new(sizeof(*db), settings, env);
	scoped(buf_done) struct buf token = { 0 };

	if (db)
		make_url(&db->base.url, s);
	if (db && http.token && s->bucket) {
		buf_printf(&token, "Authorization: Token %s", http.token);
		headers[1] = token.bytes;
		http.token = NULL;
		db->base.url.bad = db->base.url.bad || buf_failed(&token);
	}
	return http_exporter_open(out, db, &http, headers, close_exporter, e);
}

/* Escapes special characters with a backslash. A backslash at the end would escape the next
 * separator, and control characters cannot be written: these become _. */
static void put_escaped(struct buf *out, const char *text, const char *special)
{
	for (; *text; text++) {
		if (strchr(special, *text))
			buf_putc(out, '\\');
		buf_putc(out, (unsigned char)*text < ' ' || (*text == '\\' && !text[1]) ? '_' : *text);
	}
}

static void dotted_put_tags(struct buf *out, const struct influxdb *db, const struct series *s)
{
	const struct label_view more[] = { { "host", db->base.env->host }, { NULL, NULL } };
	struct label_view labels[LABELS_MAX];
	size_t n = metric_labels(s, db->base.env->config, more, labels);

	for (size_t i = 0; i < n; i++) {
		buf_putc(out, ',');
		put_escaped(out, labels[i].name, ",= ");
		buf_putc(out, '=');
		put_escaped(out, labels[i].value, ",= ");
	}
}

static void put_point_line(struct buf *out, const struct influxdb *db, const struct viewed_point *k)
{
	metric_put_full_name(out, k->series->metric);
	dotted_put_tags(out, db, k->series);
	buf_puts(out, " value=");
	if (metric_is_count(k->series->metric)) {
		buf_u64(out, k->point->count & INT64_MAX);
		buf_putc(out, 'i');
	} else {
		metric_put_number(out, k->point->value);
	}
	if (viewed_point_is_scaled(k)) {
		buf_puts(out, ",enabled_seconds=");
		metric_put_number(out, (double)k->point->enabled_ns * 1e-9);
		buf_puts(out, ",running_seconds=");
		metric_put_number(out, (double)k->point->running_ns * 1e-9);
	}
	buf_printf(out, " %lld\n", (long long)k->time_ns);
}

static int64_t encode(void *x, const struct point_batch *batches, size_t n, struct buf *body)
{
	struct influxdb *db = x;
	int64_t points = 0;

	if (point_view_fill(&db->points, db->base.env, batches, n, true) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < db->points.n; i++) {
		if (!isfinite(db->points.v[i].point->value))
			continue;
		put_point_line(body, db, &db->points.v[i]);
		points++;
	}
	return buf_failed(body) ? -ENOMEM : points;
}

const struct exporter_type export_influxdb = {
	.name = "influxdb",
	.help = "InfluxDB's line protocol, versions 1 and 2: InfluxDB, Telegraf, VictoriaMetrics, QuestDB",
	.keys = keys,
	.settings_size = sizeof(struct influxdb_settings),
	.check = check,
	.open = open_exporter,
	.encode = encode,
	.renames = true,
	.send_body = http_exporter_ship,
	.close = close_exporter,
};
