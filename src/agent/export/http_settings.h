/*
 * How a server is reached by HTTP: the keys that all exporters that use HTTP and [remote] have.
 */
#ifndef AGENT_EXPORT_HTTP_SETTINGS_H
#define AGENT_EXPORT_HTTP_SETTINGS_H

#include "agent/config/keys.h"

/* A member of the settings struct. */
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

#endif
