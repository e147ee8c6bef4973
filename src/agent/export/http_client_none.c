/*
 * Built where there is no libcurl: exporters by HTTP say so.
 */
#include "agent/export/http_client.h"

#include <errno.h>

#include "base/error.h"

int ship_http_open(struct ship_http **out, const struct http_settings *s, const struct push_settings *push,
		   const struct exporter_env *env, const char *const *headers, struct tacho_error *e)
{
	(void)out, (void)push, (void)env, (void)headers;
	error_set(e, -EOPNOTSUPP, "cannot send to %s: this build has no HTTP client", s->url);
	error_hint(e, "build it with libcurl");
	return -EOPNOTSUPP;
}

enum ship_result ship_http_post(struct ship_http *h, const char *url, struct str body,
				struct ship_reply *reply)
{
	(void)h, (void)url, (void)body, (void)reply;
	return SHIP_DROP;
}

long ship_http_status(const struct ship_http *h)
{
	(void)h;
	return 0;
}

struct str ship_http_answer(const struct ship_http *h)
{
	(void)h;
	return STR_LIT("");
}

void ship_http_close(struct ship_http *h)
{
	(void)h;
}
