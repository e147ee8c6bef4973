/*
 * Replaces the HTTP client in builds without libcurl: HTTP exporters report that they cannot send.
 */
#include "agent/export/http_client.h"

#include <errno.h>

#include "base/error.h"

int http_client_open(struct http_client **out, const struct http_settings *s,
		     const struct push_settings *push, const struct exporter_env *env,
		     const char *const *headers, struct tacho_error *e)
{
	(void)out, (void)push, (void)env, (void)headers;
	error_set(e, -EOPNOTSUPP, "cannot send to %s: this build has no HTTP client", s->url);
	error_hint(e, "build it with libcurl");
	return -EOPNOTSUPP;
}

enum send_result http_client_post(struct http_client *h, const char *url, struct str body,
				  struct send_reply *reply)
{
	(void)h, (void)url, (void)body, (void)reply;
	return SEND_DROP;
}

int http_client_get(struct http_client *h, struct http_get *get, struct tacho_error *e)
{
	(void)h;
	return error_set(e, -EOPNOTSUPP, "cannot get %s: this build has no HTTP client", get->url);
}

long http_client_status(const struct http_client *h)
{
	(void)h;
	return 0;
}

struct str http_client_answer(const struct http_client *h)
{
	(void)h;
	return STR_LIT("");
}

void http_client_close(struct http_client *h)
{
	(void)h;
}
