/*
 * The common part of HTTP exporters: settings, URL, connection. Each exporter's structs begin with
 * these and add its format:
 *
 *	check -> http_exporter_new, its URL, http_exporter_open -> send ... -> http_exporter_done
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
	struct http_client *http;
	struct buf url;
};

/* For types that have nothing else to check. */
int http_exporter_check(const void *settings, struct tacho_error *e);
/* Allocates `size` bytes that begin with a struct http_exporter; NULL if out of memory. */
void *http_exporter_new(size_t size, const void *settings, const struct exporter_env *env);
/* Opens the client of `x` (may be NULL: out of memory) with the settings `http`, or with those of
 * the exporter if NULL. On failure `close` is called. */
int http_exporter_open(void **out, void *x, const struct http_settings *http, const char *const *headers,
		       void (*close)(void *x), struct tacho_error *e);
enum send_result http_exporter_ship(void *x, const struct export_body *s, struct send_reply *reply);
void http_exporter_done(struct http_exporter *x);

#endif
