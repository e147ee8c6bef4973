/*
 * The common part of HTTP exporters: settings, URL and connection.
 */
#include "agent/export/http_exporter.h"

#include "base/error.h"

int http_exporter_check(const void *settings, struct tacho_error *e)
{
	return http_settings_check(&((const struct http_export_settings *)settings)->http, e);
}

void *http_exporter_new(size_t size, const void *settings, const struct exporter_env *env)
{
	struct http_exporter *x = calloc(1, size);

	if (!x)
		return NULL;
	x->settings = settings;
	x->env = env;
	return x;
}

int http_exporter_open(void **out, void *exporter, const struct http_settings *http,
		       const char *const *headers, void (*close)(void *x), struct tacho_error *e)
{
	struct http_exporter *x = exporter;
	int err;

	if (!x)
		return error_nomem(e);
	err = buf_failed(&x->url) ? error_nomem(e)
				  : http_client_open(&x->http, http ? http : &x->settings->http,
						     &x->settings->push, x->env, headers, e);
	if (err < 0) {
		close(x);
		return err;
	}
	*out = x;
	return 0;
}

enum send_result http_exporter_ship(void *exporter, const struct export_body *s,
				    struct send_reply *reply)
{
	struct http_exporter *x = exporter;

	return http_client_post(x->http, x->url.bytes, s->body, reply);
}

void http_exporter_done(struct http_exporter *x)
{
	http_client_close(x->http);
	buf_done(&x->url);
}
