/*
 * The continuous profile to Pyroscope: each window as pprof to /ingest.
 */
#include "agent/exporter.h"

#include <errno.h>

#include "agent/ship_http.h"
#include "base/error.h"

struct settings {
	struct push_settings push;
	struct http_settings http;
	char *application, *tenant;
};

struct pyroscope {
	const struct settings *settings;
	const struct exporter_env *env;
	struct ship_http *http;
	struct buf url;
	size_t n_fixed;			/* the part of the URL before the times */
};

#define AT(field) offsetof(struct settings, field)
static const struct key_row keys[] = {
	HTTP_KEYS(struct settings, http, "where to: \"http://host:4040\"; without a path it is /ingest"),
	{ KEY_STRING, "application", AT(application), "tacho", "the name that the profiles are found under" },
	{ KEY_STRING, "tenant", AT(tenant), NULL, "sent as X-Scope-OrgID" },
	{ .kind = KEY_END },
};
#undef AT

static int check(const void *settings, struct tacho_error *e)
{
	const struct settings *s = settings;

	if (s->tenant && strpbrk(s->tenant, "\r\n"))
		return error_set(e, -EINVAL, "tenant: it has a line end in it");
	if (strpbrk(s->application, "{}"))
		return error_set(e, -EINVAL, "application: '%.100s' has a brace in it", s->application);
	return http_settings_check(&s->http, e);
}

/* name=tacho{host="me",region="eu"}, escaped. */
static void put_name(struct buf *url, const struct pyroscope *p)
{
	const struct key_pairs *labels = &p->env->config->labels;
	struct buf name = { 0 };

	buf_printf(&name, "%s{host=%s", p->settings->application, p->env->host);
	for (size_t i = 0; i < labels->n; i++)
		if (strcmp(labels->v[i].name, "host") && !strpbrk(labels->v[i].value, "{},="))
			buf_printf(&name, ",%s=%s", labels->v[i].name, labels->v[i].value);
	buf_putc(&name, '}');
	url_escape(url, buf_view(&name));
	url->bad = url->bad || buf_failed(&name);
	buf_done(&name);
}

static void close_it(void *x)
{
	struct pyroscope *p = x;

	ship_http_close(p->http);
	buf_done(&p->url);
	free(p);
}

static int open_http(struct pyroscope *p, struct tacho_error *e)
{
	const struct settings *s = p->settings;
	const char *headers[] = { "Content-Type: application/octet-stream", NULL, NULL };
	struct buf tenant = { 0 };
	int err;

	if (s->tenant) {
		buf_printf(&tenant, "X-Scope-OrgID: %s", s->tenant);
		headers[1] = tenant.bytes;
	}
	err = buf_failed(&tenant) ? error_nomem(e)
				  : ship_http_open(&p->http, &s->http, &s->push, p->env, headers, e);
	buf_done(&tenant);
	return err;
}

static int open_it(void **out, const void *settings, const struct exporter_env *env, struct tacho_error *e)
{
	struct pyroscope *p = calloc(1, sizeof(*p));
	int err;

	if (!p)
		return error_nomem(e);
	p->settings = settings;
	p->env = env;
	url_with_path(&p->url, p->settings->http.url, "/ingest");
	buf_puts(&p->url, strchr(p->url.bytes ? p->url.bytes : "", '?') ? "&name=" : "?name=");
	put_name(&p->url, p);
	buf_puts(&p->url, "&format=pprof&spyName=tacho");
	p->n_fixed = p->url.n;
	err = buf_failed(&p->url) ? error_nomem(e) : open_http(p, e);
	if (err < 0) {
		close_it(p);
		return err;
	}
	*out = p;
	return 0;
}

static enum ship_result ship_profile(void *x, const struct shipment *s, struct ship_reply *reply)
{
	struct pyroscope *p = x;

	p->url.n = p->n_fixed;
	buf_printf(&p->url, "&from=%lld&until=%lld", (long long)(s->from_ns / 1000000000),
		   (long long)((s->to_ns + 999999999) / 1000000000));
	if (buf_failed(&p->url)) {
		p->url.bad = false;
		return SHIP_RETRY;
	}
	return ship_http_post(p->http, p->url.bytes, s->body, reply);
}

const struct exporter_type export_pyroscope = {
	.name = "pyroscope",
	.help = "the continuous profile as pprof, to Pyroscope's /ingest",
	.keys = keys,
	.settings_size = sizeof(struct settings),
	.check = check,
	.open = open_it,
	.ship_profile = ship_profile,
	.close = close_it,
};
