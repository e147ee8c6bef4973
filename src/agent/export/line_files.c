/*
 * Writes points as lines of files: CSV with a header, or one JSON object per line. The lines contain
 * everything known about a point, including points without a value, with their state and reason.
 * Counts are written with all digits; NaN and infinity become an empty field or null.
 */
#include "agent/export/exporter.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <time.h>

#include "agent/core/metric_names.h"
#include "agent/export/point_view.h"
#include "agent/export/rotating_file.h"
#include "base/error.h"
#include "base/json.h"

struct line_file_settings {
	struct push_settings push;
	struct rotating_file_settings file;
};

struct line_exporter {
	const struct exporter_env *env;
	struct rotating_file *file;
	struct point_view points;
	struct buf labels;
};

static const struct config_key keys[] = {
	ROTATING_FILE_KEYS(struct line_file_settings, file),
	{ .kind = KEY_END },
};

static int open_lines(void **out, const void *settings, const struct exporter_env *env, const char *header,
		      struct tacho_error *e)
{
	const struct line_file_settings *s = settings;
	struct line_exporter *l = calloc(1, sizeof(*l));
	int err;

	if (!l)
		return error_nomem(e);
	l->env = env;
	err = rotating_file_open(&l->file, &s->file, &s->push, env, header, e);
	if (err < 0) {
		free(l);
		return err;
	}
	*out = l;
	return 0;
}

static int open_csv(void **out, const void *settings, const struct exporter_env *env, struct tacho_error *e)
{
	return open_lines(out, settings, env, "time,source,event,metric,unit,labels,value,count,raw,enabled_ns,"
					      "running_ns,state,reason\n", e);
}

static int open_jsonl(void **out, const void *settings, const struct exporter_env *env, struct tacho_error *e)
{
	return open_lines(out, settings, env, NULL, e);
}

static void close_exporter(void *x)
{
	struct line_exporter *l = x;

	rotating_file_close(l->file);
	point_view_done(&l->points);
	buf_done(&l->labels);
	free(l);
}

/* 2026-01-31T12:00:00.123456789Z */
static void put_time(struct buf *out, int64_t ns)
{
	time_t seconds = (time_t)(ns / 1000000000);
	char text[32];
	struct tm tm;

	gmtime_r(&seconds, &tm);
	strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &tm);
	buf_printf(out, "%s.%09lldZ", text, (long long)(ns % 1000000000));
}

/* Quoted only if necessary. */
static void put_field(struct buf *out, const char *text)
{
	if (!strpbrk(text, ",\"\r\n")) {
		buf_puts(out, text);
		return;
	}
	buf_putc(out, '"');
	for (; *text; text++) {
		if (*text == '"')
			buf_putc(out, '"');
		buf_putc(out, *text);
	}
	buf_putc(out, '"');
}

/* "cpu=3;host=me"; the source has its own column. */
static void put_label_field(struct line_exporter *l, struct buf *out, const struct series *s)
{
	struct label_view labels[LABELS_MAX];
	size_t n = metric_labels(s, l->env->config, NULL, labels);

	buf_clear(&l->labels);
	for (size_t i = 0; i < n; i++)
		if (strcmp(labels[i].name, "source"))
			buf_printf(&l->labels, "%s%s=%s", l->labels.n ? ";" : "", labels[i].name, labels[i].value);
	out->bad = out->bad || buf_failed(&l->labels);
	put_field(out, l->labels.bytes ? l->labels.bytes : "");
}

static bool has_value(const struct viewed_point *k)
{
	return k->point->state <= TACHO_SCALED && isfinite(k->point->value);
}

static const char *point_reason(const struct viewed_point *k)
{
	return k->point->state > TACHO_SCALED && k->series->why ? k->series->why : "";
}

static void put_csv(struct line_exporter *l, struct buf *out, const struct viewed_point *k)
{
	const struct point *p = k->point;
	const struct metric *m = k->series->metric;

	put_time(out, k->time_ns);
	buf_putc(out, ',');
	put_field(out, k->series->source);
	buf_putc(out, ',');
	put_field(out, m->event);
	buf_putc(out, ',');
	put_field(out, m->name);
	buf_putc(out, ',');
	put_field(out, m->unit);
	buf_putc(out, ',');
	put_label_field(l, out, k->series);
	buf_putc(out, ',');
	if (has_value(k) && metric_is_count(m))
		buf_u64(out, p->count);
	else if (has_value(k))
		metric_put_number(out, p->value);
	if (has_value(k) && m->kind == METRIC_COUNTER)
		buf_printf(out, ",%llu,%llu,%llu,%llu,", (unsigned long long)p->count, (unsigned long long)p->raw,
			   (unsigned long long)p->enabled_ns, (unsigned long long)p->running_ns);
	else
		buf_puts(out, ",,,,,");
	put_field(out, tacho_state_name(p->state));
	buf_putc(out, ',');
	put_field(out, point_reason(k));
	buf_putc(out, '\n');
}

static void put_json_labels(struct line_exporter *l, struct json *j, const struct series *s)
{
	struct label_view labels[LABELS_MAX];
	size_t n = metric_labels(s, l->env->config, NULL, labels);

	json_key(j, "labels");
	json_begin(j, '{');
	for (size_t i = 0; i < n; i++)
		if (strcmp(labels[i].name, "source"))
			json_member(j, labels[i].name, str, labels[i].value);
	json_end(j);
}

static void put_json_counts(struct json *j, const struct point *p)
{
	json_member(j, "count", u64, p->count);
	json_member(j, "raw", u64, p->raw);
	json_member(j, "enabled_ns", u64, p->enabled_ns);
	json_member(j, "running_ns", u64, p->running_ns);
}

static void put_json(struct line_exporter *l, struct buf *out, const struct viewed_point *k)
{
	const struct metric *m = k->series->metric;
	struct json j = { .out = out };

	json_begin(&j, '{');
	buf_clear(&l->labels);
	put_time(&l->labels, k->time_ns);
	json_member(&j, "time", strn, buf_view(&l->labels));
	json_member(&j, "source", str, k->series->source);
	json_member(&j, "event", str, m->event);
	json_member(&j, "metric", str, m->name);
	json_member(&j, "unit", str, m->unit);
	put_json_labels(l, &j, k->series);
	json_key(&j, "value");
	if (!has_value(k))
		json_null(&j);
	else if (metric_is_count(m))
		json_u64(&j, k->point->count);
	else
		json_double(&j, k->point->value);
	if (has_value(k) && m->kind == METRIC_COUNTER)
		put_json_counts(&j, k->point);
	json_member(&j, "state", str, tacho_state_name(k->point->state));
	if (*point_reason(k))
		json_member(&j, "reason", str, point_reason(k));
	json_end(&j);
	out->bad = out->bad || buf_failed(&l->labels);
	buf_putc(out, '\n');
}

static int64_t
encode_lines(struct line_exporter *l, const struct point_batch *batches, size_t n, struct buf *body,
	     void (*put)(struct line_exporter *l, struct buf *out, const struct viewed_point *k))
{
	if (point_view_fill(&l->points, l->env, batches, n, false) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < l->points.n; i++)
		put(l, body, &l->points.v[i]);
	return buf_failed(body) ? -ENOMEM : (int64_t)l->points.n;
}

static int64_t encode_csv(void *x, const struct point_batch *batches, size_t n, struct buf *body)
{
	return encode_lines(x, batches, n, body, put_csv);
}

static int64_t encode_jsonl(void *x, const struct point_batch *batches, size_t n, struct buf *body)
{
	return encode_lines(x, batches, n, body, put_json);
}

static enum send_result send_body(void *x, const struct export_body *s, struct send_reply *reply)
{
	struct line_exporter *l = x;

	return rotating_file_write(l->file, s, reply);
}

const struct exporter_type export_csv = {
	.name = "csv",
	.help = "comma-separated values in a rotating file, or on stdout",
	.keys = keys,
	.settings_size = sizeof(struct line_file_settings),
	.open = open_csv,
	.encode = encode_csv,
	.renames = true,
	.send_body = send_body,
	.close = close_exporter,
};

const struct exporter_type export_jsonl = {
	.name = "jsonl",
	.help = "one JSON object per line in a rotating file, or on stdout",
	.keys = keys,
	.settings_size = sizeof(struct line_file_settings),
	.open = open_jsonl,
	.encode = encode_jsonl,
	.renames = true,
	.send_body = send_body,
	.close = close_exporter,
};
