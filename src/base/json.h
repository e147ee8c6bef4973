/*
 * The one JSON writer: nesting and commas are its business, numbers are always in the C
 * locale, strings are escaped and bytes that are not UTF-8 are replaced. Compact by default
 * ("a": 1, one blank); `indent` > 0 puts every member of the outer levels on its own line.
 *
 *	json_begin(&j, '{'); json_key(&j, "name"); json_str(&j, name); json_end(&j);
 */
#ifndef BASE_JSON_H
#define BASE_JSON_H

#include "base/buf.h"

#define JSON_DEPTH 16

struct json {
	struct buf *out;
	unsigned indent;		/* blanks per level, 0: all on one line */
	unsigned depth;
	bool full[JSON_DEPTH];		/* this level has a member already */
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
void json_double(struct json *j, double v);		/* shortest that reads back; nan, inf: null */
void json_bool(struct json *j, bool v);
void json_null(struct json *j);
void json_raw(struct json *j, const char *text);	/* a value already in JSON */

#define json_member(j, key, fn, ...) (json_key(j, key), json_##fn(j, __VA_ARGS__))

/* The bytes of `s` as a JSON string with its quotes. */
void json_quote(struct buf *out, struct str s);

#endif
