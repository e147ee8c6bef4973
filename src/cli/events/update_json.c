/*
 * Checks that a fetched file is an event list. An error page, a login page, a truncated file or a file of
 * another kind must not replace an existing list.
 */
#include "cli/events/update.h"

#include <errno.h>

#include "base/error.h"
#include "base/json_read.h"

/* Counts the objects of an array and reads to its end. Returns false if the JSON is invalid. */
static bool count_objects(struct json_in *in, size_t *n)
{
	enum json_token token;
	struct str ignored;

	while ((token = json_next(in, &ignored)) != JSON_IN_CLOSE) {
		*n += token == JSON_IN_OBJECT;
		if (!json_skip(in, token))
			return false;
	}
	return true;
}

static bool read_object(struct json_in *in, size_t *n)
{
	enum json_token token;
	struct str key, value;

	while ((token = json_next(in, &key)) == JSON_IN_KEY) {
		token = json_next(in, &value);
		if (token == JSON_IN_ARRAY ? !count_objects(in, n) : !json_skip(in, token))
			return false;
	}
	return token == JSON_IN_CLOSE;
}

int update_check_json(char *text, size_t n, bool events, struct tacho_error *e)
{
	struct json_in in = { .text = text, .n = n };
	unsigned line, column;
	size_t objects = 0;
	struct str ignored;
	enum json_token token = json_next(&in, &ignored);
	bool good = token == JSON_IN_OBJECT ? read_object(&in, &objects) :
		    token == JSON_IN_ARRAY ? count_objects(&in, &objects) : false;

	if (!good || json_next(&in, &ignored) != JSON_IN_DONE) {
		json_position(&in, &line, &column);
		return error_set(e, -EBADMSG, "it is not a list: line %u, column %u: %s", line, column,
				 in.why ? in.why : "an object or an array was expected");
	}
	if (events && !objects)
		return error_set(e, -EBADMSG, "it is JSON, but contains no list of events");
	return 0;
}
