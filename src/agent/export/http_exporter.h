/*
 * What exporters by HTTP have in common: settings, a URL, a connection. Each begins with these structs
 * and adds its own format:
 *
 *	check -> http_exporter_new, its URL, http_exporter_open -> ship ... -> http_exporter_done
 */
#ifndef AGENT_EXPORT_HTTP_EXPORTER_H
#define AGENT_EXPORT_HTTP_EXPORTER_H

#include "agent/export/http_client.h"

struct http_export_settings {
	struct push_settings push;
	struct http_settings http;
};

struct http_exporter {
	const struct http_export_settings *settings;
	const struct exporter_env *env;
	struct ship_http *http;
	struct buf url;
};

/* For types whose rows need no other check. */
int http_exporter_check(const void *settings, struct tacho_error *e);
/* `size` bytes that begin with a struct http_exporter; NULL without memory. */
void *http_exporter_new(size_t size, const void *settings, const struct exporter_env *env);
/* Connects `x`, which may be NULL (no memory), as `http` says, or the settings where that is NULL. What
 * fails is closed by `close`. */
int http_exporter_open(void **out, void *x, const struct http_settings *http, const char *const *headers,
		       void (*close)(void *x), struct tacho_error *e);
enum ship_result http_exporter_ship(void *x, const struct shipment *s, struct ship_reply *reply);
void http_exporter_done(struct http_exporter *x);

#endif
