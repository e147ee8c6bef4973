/*
 * Sends bodies by HTTP: one persistent connection per exporter, TLS, headers, tokens, and the
 * decision to retry or drop a body by the HTTP status.
 *
 *	http_client_open -> http_client_post ... -> http_client_close
 */
#ifndef AGENT_EXPORT_HTTP_CLIENT_H
#define AGENT_EXPORT_HTTP_CLIENT_H

#include "agent/export/exporter.h"
#include "agent/export/http_settings.h"

struct http_client;

/* `headers` are those of the format ("Content-Type: ..."), terminated by NULL. The settings and the
 * environment must outlive the client. */
int http_client_open(struct http_client **out, const struct http_settings *s,
		     const struct push_settings *push, const struct exporter_env *env,
		     const char *const *headers, struct tacho_error *e);
enum send_result http_client_post(struct http_client *h, const char *url, struct str body,
				  struct send_reply *reply);
/* Gets the file at `url` into *body (at most max_body bytes). `known` is the ETag of the version that the caller has, or "";
 * `etag` becomes that of the answer. Returns 1 if the caller has the file already, 0, or a negative errno. */
#define HTTP_ETAG_MAX 200
struct http_get {
	const char *url, *known;
	struct buf *body;
	size_t max_body;
	char etag[HTTP_ETAG_MAX];
};
int http_client_get(struct http_client *h, struct http_get *get, struct tacho_error *e);
void http_client_close(struct http_client *h);
/* The status of the last answer (0: there was none), and the beginning of its body. */
long http_client_status(const struct http_client *h);
struct str http_client_answer(const struct http_client *h);
/* The first line of an answer for messages, with control characters replaced. */
void http_answer_line(char *out, size_t size, struct str answer);

/* Whether a status means done, retry or drop. */
enum send_result http_status_result(long status);
void url_escape(struct buf *out, struct str text);	/* escaped for use in a query */
/* Appends the URL; if it has no path, with `path`. */
void url_with_path(struct buf *out, const char *url, const char *path);

#endif
