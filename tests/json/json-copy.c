/*
 * json-copy: reads JSON documents from stdin, one per line, with the pull parser of base/json_read.h and
 * writes each again with the writer of base/json.h. A document that the parser refuses gives the line
 * "refused LINE:COLUMN REASON".
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/json.h"
#include "base/json_read.h"

static void copy_value(struct json *out, struct json_in *in, enum json_token token, struct str s)
{
	char *text;

	switch (token) {
	case JSON_IN_OBJECT:
	case JSON_IN_ARRAY:
		json_begin(out, token == JSON_IN_OBJECT ? '{' : '[');
		break;
	case JSON_IN_CLOSE:
		json_end(out);
		break;
	case JSON_IN_KEY:
		text = strndup(s.s, s.n);
		json_key(out, text);
		free(text);
		break;
	case JSON_IN_STRING:
		json_strn(out, s);
		break;
	case JSON_IN_NUMBER:
	case JSON_IN_LITERAL:
		text = strndup(s.s, s.n);
		json_raw(out, text);
		free(text);
		break;
	default:
		break;
	}
	(void)in;
}

static void copy_document(char *text, size_t n)
{
	struct buf bytes = { 0 };
	struct json out = { .out = &bytes };
	struct json_in in = { .text = text, .n = n };
	enum json_token token;
	struct str s = { "", 0 };

	while ((token = json_next(&in, &s)) > JSON_IN_DONE)
		copy_value(&out, &in, token, s);
	if (token == JSON_IN_DONE) {
		fwrite(bytes.bytes, 1, bytes.n, stdout);
		putchar('\n');
	} else {
		unsigned line, column;

		json_position(&in, &line, &column);
		printf("refused %u:%u %s\n", line, column, in.why);
	}
	buf_done(&bytes);
}

int main(void)
{
	char *line = NULL;
	size_t cap = 0;
	ssize_t n;

	while ((n = getline(&line, &cap, stdin)) > 0) {
		/* In a buffer of exactly that size, so that a sanitizer sees any access past its end. */
		size_t length = line[n - 1] == '\n' ? (size_t)n - 1 : (size_t)n;
		char *text = malloc(length ? length : 1);

		memcpy(text, line, length);
		copy_document(text, length);
		free(text);
	}
	free(line);
	return 0;
}
