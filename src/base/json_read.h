/*
 * A pull parser for JSON (RFC 8259): one token per call, no tree, no allocation. Strings are unescaped
 * in place, so the text must be writable, and the returned strings are valid as long as it is. The
 * nesting depth is limited; the first error ends parsing and is reported with its line and column.
 *
 *	struct json_in in = { .text = bytes, .n = n };
 *	while ((token = json_next(&in, &s)) > JSON_IN_DONE) ...
 */
#ifndef BASE_JSON_READ_H
#define BASE_JSON_READ_H

#include "base/str.h"

#define JSON_IN_DEPTH 64

enum json_token {
	JSON_IN_BAD,		/* in->why says why, json_position() where */
	JSON_IN_DONE,		/* the end, after exactly one value */
	JSON_IN_OBJECT, JSON_IN_ARRAY,
	JSON_IN_CLOSE,		/* end of the innermost object or array */
	JSON_IN_KEY,
	JSON_IN_STRING,
	JSON_IN_NUMBER,		/* its text, validated */
	JSON_IN_LITERAL,		/* true, false or null */
};

struct json_in {
	char *text;
	size_t n, at;
	unsigned depth;
	char open[JSON_IN_DEPTH];
	uint8_t state;		/* private to the parser */
	const char *why;
};

/* Returns the next token. `out` receives the text of keys, strings, numbers and literals, which is not
 * NUL-terminated. After JSON_IN_BAD or JSON_IN_DONE every call returns the same token again. */
enum json_token json_next(struct json_in *in, struct str *out);
/* Skips the rest of the innermost object or array, including its end. Returns false on an error. */
bool json_leave(struct json_in *in);
/* Skips the value that `token` is or has opened. Returns false on an error. */
bool json_skip(struct json_in *in, enum json_token token);
/* The current position; both numbers count from 1, columns in bytes. */
void json_position(const struct json_in *in, unsigned *line, unsigned *column);

#endif
