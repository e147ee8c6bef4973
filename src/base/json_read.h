/*
 * A pull reader of JSON (RFC 8259): one token per call, no tree, no allocation. Strings are unescaped
 * where they lie, so the text has to be the caller's to change and outlives what it is given of it.
 * Bounded in depth; the first mistake ends the reading and is told by line and column.
 *
 *	struct json_in in = { .text = bytes, .n = n };
 *	while ((token = json_next(&in, &s)) > JSON_IN_DONE) ...
 */
#ifndef BASE_JSON_READ_H
#define BASE_JSON_READ_H

#include "base/str.h"

#define JSON_IN_DEPTH 64

enum json_token {
	JSON_IN_BAD,		/* in->why says what is wrong, json_position() where */
	JSON_IN_DONE,		/* the text held one value, and it was read */
	JSON_IN_OBJECT, JSON_IN_ARRAY,
	JSON_IN_CLOSE,		/* of the innermost object or array */
	JSON_IN_KEY,
	JSON_IN_STRING,
	JSON_IN_NUMBER,		/* its text, checked */
	JSON_IN_LITERAL,		/* true, false or null */
};

struct json_in {
	char *text;
	size_t n, at;
	unsigned depth;
	char open[JSON_IN_DEPTH];
	uint8_t state;		/* the reader's own */
	const char *why;
};

/* The next token; `out` gets the text of keys, strings, numbers and words, which is not
 * NUL-terminated. After JSON_IN_BAD and JSON_IN_DONE the same comes again. */
enum json_token json_next(struct json_in *in, struct str *out);
/* Steps over the rest of the innermost object or array, its end included. False: bad. */
bool json_leave(struct json_in *in);
/* Steps over the value that `token` has begun. False: bad. */
bool json_skip(struct json_in *in, enum json_token token);
/* Where the reader stands, both from 1; columns in bytes. */
void json_position(const struct json_in *in, unsigned *line, unsigned *column);

#endif
