/*
 * Bodies sent by HTTP: one connection per exporter that is kept open, TLS, headers, tokens, and
 * what the answers mean for the queue.
 *
 *	ship_http_open -> ship_http_post ... -> ship_http_close
 */
#ifndef AGENT_EXPORT_HTTP_CLIENT_H
#define AGENT_EXPORT_HTTP_CLIENT_H

#include "agent/export/exporter.h"

/* The keys that every exporter by HTTP has: a member of its settings. */
struct http_settings {
	char *url;
	char *ca, *cert, *key;
	bool insecure;
	char *token, *user, *password;
	struct key_pairs headers;
};

#define HTTP_KEYS_AT(type, member, field) offsetof(type, member) + offsetof(struct http_settings, field)
#define HTTP_KEYS(type, member, url_help)                                                           \
	{ KEY_URL, "url", HTTP_KEYS_AT(type, member, url), NULL, url_help, .required = true },      \
	{ KEY_SECRET, "token", HTTP_KEYS_AT(type, member, token), NULL,                             \
	  "sent as \"Authorization: Bearer\"" },                                                    \
	{ KEY_STRING, "user", HTTP_KEYS_AT(type, member, user), NULL,                               \
	  "user name, for basic authentication" },                                                  \
	{ KEY_SECRET, "password", HTTP_KEYS_AT(type, member, password), NULL, "goes with user" },   \
	{ KEY_PAIRS, "headers", HTTP_KEYS_AT(type, member, headers), NULL,                          \
	  "more headers for every request" },                                                       \
	{ KEY_PATH, "ca", HTTP_KEYS_AT(type, member, ca), NULL,                                     \
	  "certificates that the receiver's is checked against; not set: the system's" },           \
	{ KEY_PATH, "cert", HTTP_KEYS_AT(type, member, cert), NULL,                                 \
	  "our own certificate, where the receiver asks for one" },                                 \
	{ KEY_PATH, "key", HTTP_KEYS_AT(type, member, key), NULL, "the key that belongs to cert" }, \
	{ KEY_BOOL, "insecure", HTTP_KEYS_AT(type, member, insecure), "false",                      \
	  "take any certificate: for tests only" }

/* What the rows cannot say: user without password, cert without key, headers with line ends. */
int http_settings_check(const struct http_settings *s, struct tacho_error *e);

struct ship_http;

/* `headers` are those of the format ("Content-Type: ..."), with NULL at the end. Settings and
 * environment have to outlive it. */
int ship_http_open(struct ship_http **out, const struct http_settings *s, const struct push_settings *push,
		   const struct exporter_env *env, const char *const *headers, struct tacho_error *e);
enum ship_result ship_http_post(struct ship_http *h, const char *url, struct str body,
				struct ship_reply *reply);
void ship_http_close(struct ship_http *h);
/* Of the last answer: its status (0: none came), and how its body begins. */
long ship_http_status(const struct ship_http *h);
struct str ship_http_answer(const struct ship_http *h);
/* What people may be shown of it: one line, without what would disturb a terminal. */
void ship_http_words(char *out, size_t size, struct str answer);

/* What an answer means. */
enum ship_result ship_http_result(long status);
void url_escape(struct buf *out, struct str text);	/* as a part of a query */
/* The URL with `path` behind it, where it has none of its own. */
void url_with_path(struct buf *out, const char *url, const char *path);

#endif
