/*
 * Sends the continuous profile to Pyroscope: each window as pprof to /ingest.
 */
#include "agent/export/exporter.h"

#include <errno.h>

#include "agent/export/http_exporter.h"
#include "base/error.h"

struct pyroscope_settings {
	struct http_export_settings base;
	char *application, *tenant;
};

struct pyroscope {
	struct http_exporter base;
	size_t n_fixed;			/* length of the URL without the times */
};

#define AT(field) offsetof(struct pyroscope_settings, field)
static const struct config_key keys[] = {
	HTTP_KEYS(struct pyroscope_settings, base.http,
		  "the receiver's URL: \"http://host:4040\"; the default path is /ingest"),
	{ KEY_STRING, "application", AT(application), "tacho",
	  "the application name of the profiles" },
	{ KEY_STRING, "tenant", AT(tenant), NULL, "sent as X-Scope-OrgID" },
	{ .kind = KEY_END },
};
#undef AT

static int check(const void *settings, struct tacho_error *e)
{
	const struct pyroscope_settings *s = settings;

	if (s->tenant && strpbrk(s->tenant, "\r\n"))
		return error_set(e, -EINVAL, "tenant: it contains a line break");
	if (strpbrk(s->application, "{}"))
		return error_set(e, -EINVAL, "application: '%.100s' contains a brace", s->application);
	return http_exporter_check(settings, e);
}

/* name=tacho{host="me",region="eu"}, escaped. */
static void put_name(struct buf *url, const struct pyroscope *p)
{
	const struct pyroscope_settings *s = (const struct pyroscope_settings *)p->base.settings;
	const struct key_pairs *labels = &p->base.env->config->labels;
	struct buf name = { 0 };

	buf_printf(&name, "%s{host=%s", s->application, p->base.env->host);
	for (size_t i = 0; i < labels->n; i++)
		if (strcmp(labels->v[i].name, "host") && !strpbrk(labels->v[i].value, "{},="))
			buf_printf(&name, ",%s=%s", labels->v[i].name, labels->v[i].value);
	buf_putc(&name, '}');
	url_escape(url, buf_view(&name));
	url->bad = url->bad || buf_failed(&name);
	buf_done(&name);
}

static void close_exporter(void *x)
{
	struct pyroscope *p = x;

	http_exporter_done(&p->base);
	free(p);
}

static int open_exporter(void **out, const void *settings, const struct exporter_env *env,
			 struct tacho_error *e)
{
	const char *headers[] = { "Content-Type: application/octet-stream", NULL, NULL };
	const struct pyroscope_settings *s = settings;
	struct pyroscope *p = http_exporter_new(sizeof(*p), settings, env);
	scoped(buf_done) struct buf tenant = { 0 };
	struct buf *url = p ? &p->base.url : NULL;

	if (url) {
		url_with_path(url, s->base.http.url, "/ingest");
		buf_puts(url, strchr(url->bytes ? url->bytes : "", '?') ? "&name=" : "?name=");
		put_name(url, p);
		buf_puts(url, "&format=pprof&spyName=tacho");
		p->n_fixed = url->n;
	}
	if (url && s->tenant) {
		buf_printf(&tenant, "X-Scope-OrgID: %s", s->tenant);
		headers[1] = tenant.bytes;
		url->bad = url->bad || buf_failed(&tenant);
	}
	return http_exporter_open(out, p, NULL, headers, close_exporter, e);
}

static enum send_result send_profile(void *x, const struct export_body *s, struct send_reply *reply)
{
	struct pyroscope *p = x;

	/* Both are rounded alike, so that a window ends where the next begins: Pyroscope would count the seconds of an overlap twice. */
	int64_t from_s = s->from_ns / 1000000000, until_s = s->to_ns / 1000000000;

	p->base.url.n = p->n_fixed;
	buf_printf(&p->base.url, "&from=%lld&until=%lld", (long long)from_s, (long long)max_of(until_s, from_s + 1));
	if (buf_failed(&p->base.url)) {
		p->base.url.bad = false;
		return SEND_RETRY;
	}
	return http_exporter_ship(p, s, reply);
}

const struct exporter_type export_pyroscope = {
	.name = "pyroscope",
	.help = "the continuous profile as pprof, to Pyroscope's /ingest",
	.keys = keys,
	.settings_size = sizeof(struct pyroscope_settings),
	.check = check,
	.open = open_exporter,
	.send_profile = send_profile,
	.close = close_exporter,
};
