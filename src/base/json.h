/*
 * The JSON writer. It takes care of nesting and commas, prints numbers independently of the locale,
 * escapes strings (also what str_printable_len() refuses), and replaces bytes that are not UTF-8 by U+FFFD. The output is one line by default;
 * with `indent` > 0 every member gets its own line.
 *
 *	json_begin(&j, '{'); json_key(&j, "name"); json_str(&j, name); json_end(&j);
 */
#ifndef BASE_JSON_H
#define BASE_JSON_H

#include "base/buf.h"

#define JSON_DEPTH 16

struct json {
	struct buf *out;
	unsigned indent;		/* spaces per level; 0: everything on one line */
	unsigned depth;
	bool full[JSON_DEPTH];		/* whether the level already has a member */
	char close[JSON_DEPTH];
	bool after_key;
};

void json_begin(struct json *j, char kind);		/* '{' or '[' */
void json_end(struct json *j);
void json_key(struct json *j, const char *key);
void json_str(struct json *j, const char *s);		/* NULL gives null */
void json_strn(struct json *j, struct str s);
void json_u64(struct json *j, uint64_t v);
void json_i64(struct json *j, int64_t v);
void json_double(struct json *j, double v);		/* shortest form that reads back; null for nan, inf */
void json_bool(struct json *j, bool v);
void json_null(struct json *j);
void json_raw(struct json *j, const char *text);	/* a value already in JSON; NULL: memory for it ran out */

#define json_member(j, key, fn, ...) (json_key(j, key), json_##fn(j, __VA_ARGS__))

/* Appends `s` as a JSON string, with quotes. */
void json_quote(struct buf *out, struct str s);

#endif
