/*
 * Sends bodies by HTTP: one persistent connection per exporter, TLS, headers, tokens, and the
 * decision to retry or drop a body by the HTTP status.
 *
 *	http_client_open -> http_client_post ... -> http_client_close
 */
#ifndef AGENT_EXPORT_HTTP_CLIENT_H
#define AGENT_EXPORT_HTTP_CLIENT_H

#include "agent/export/exporter.h"

/* The settings of every HTTP exporter: a member of its settings struct. */
struct http_settings {
	char *url;
	char *ca, *cert, *key;
	bool insecure;
	char *token, *user, *password;
	struct key_pairs headers;
};

#define HTTP_KEYS_AT(type, member, field) offsetof(type, member) + offsetof(struct http_settings, field)
#define HTTP_KEYS(type, member, url_help)                                                          \
	{ KEY_URL, "url", HTTP_KEYS_AT(type, member, url), NULL, url_help, .required = true },     \
		{ KEY_SECRET, "token", HTTP_KEYS_AT(type, member, token), NULL,                    \
		  "sent as \"Authorization: Bearer\"" },                                           \
		{ KEY_STRING, "user", HTTP_KEYS_AT(type, member, user), NULL,                      \
		  "user name, for basic authentication" },                                         \
		{ KEY_SECRET, "password", HTTP_KEYS_AT(type, member, password), NULL,              \
		  "password, for basic authentication" },                                          \
		{ KEY_PAIRS, "headers", HTTP_KEYS_AT(type, member, headers), NULL,                 \
		  "additional headers for every request" },                                        \
		{ KEY_PATH, "ca", HTTP_KEYS_AT(type, member, ca), NULL,                            \
		  "CA certificates to verify the receiver with; not set: the system's" },          \
		{ KEY_PATH, "cert", HTTP_KEYS_AT(type, member, cert), NULL,                        \
		  "client certificate, if the receiver requires one" },                            \
		{ KEY_PATH, "key", HTTP_KEYS_AT(type, member, key), NULL,                          \
		  "private key of the client certificate" },                                       \
	{                                                                                          \
		KEY_BOOL, "insecure", HTTP_KEYS_AT(type, member, insecure), "false",               \
			"do not verify the receiver's certificate: for tests only"                 \
	}

/* Checks combinations of keys: user without password, cert without key, headers with line
 * breaks. */
int http_settings_check(const struct http_settings *s, struct tacho_error *e);

struct http_client;

/* `headers` are those of the format ("Content-Type: ..."), terminated by NULL. The settings and the
 * environment must outlive the client. */
int http_client_open(struct http_client **out, const struct http_settings *s,
		     const struct push_settings *push, const struct exporter_env *env,
		     const char *const *headers, struct tacho_error *e);
enum send_result http_client_post(struct http_client *h, const char *url, struct str body,
				  struct send_reply *reply);
void http_client_close(struct http_client *h);
/* Of the last answer: its status (0: no answer), and the beginning of its body. */
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
