/*
 * A pull parser for JSON. Its state says which token may come next. Strings without escapes, which are
 * nearly all, are returned in place after a scan for the closing quote.
 */
#include "base/json_read.h"

enum json_state {
	WANT_VALUE,		/* a value and nothing else */
	WANT_FIRST,		/* the first value of an array, or the end of the array */
	WANT_FIRST_KEY,		/* the first key of an object, or the end of the object */
	WANT_KEY,		/* a key, after a comma */
	WANT_NEXT,		/* a comma, or the end of the innermost object or array */
	STATE_DONE,
	STATE_BAD,
};

static enum json_token bad(struct json_in *in, const char *why)
{
	in->state = STATE_BAD;
	in->why = why;
	return JSON_IN_BAD;
}

static void skip_blanks(struct json_in *in)
{
	while (in->at < in->n && (in->text[in->at] == ' ' || in->text[in->at] == '\n' ||
				  in->text[in->at] == '\t' || in->text[in->at] == '\r'))
		in->at++;
}

static void value_done(struct json_in *in)
{
	in->state = in->depth ? WANT_NEXT : STATE_DONE;
}

static int hex_digit(char c)
{
	return c >= '0' && c <= '9' ? c - '0' :
	       c >= 'a' && c <= 'f' ? c - 'a' + 10 :
	       c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

static bool hex4(const struct json_in *in, size_t at, unsigned *out)
{
	*out = 0;
	if (at > in->n || in->n - at < 4)
		return false;
	for (size_t i = 0; i < 4; i++) {
		int digit = hex_digit(in->text[at + i]);

		if (digit < 0)
			return false;
		*out = *out << 4 | (unsigned)digit;
	}
	return true;
}

/* Writes at most four bytes, fewer than the escape sequence they replace. */
static size_t put_utf8(char *to, unsigned c)
{
	if (c < 0x80) {
		to[0] = (char)c;
		return 1;
	}
	if (c < 0x800) {
		to[0] = (char)(0xc0 | c >> 6);
		to[1] = (char)(0x80 | (c & 0x3f));
		return 2;
	}
	if (c < 0x10000) {
		to[0] = (char)(0xe0 | c >> 12);
		to[1] = (char)(0x80 | (c >> 6 & 0x3f));
		to[2] = (char)(0x80 | (c & 0x3f));
		return 3;
	}
	to[0] = (char)(0xf0 | c >> 18);
	to[1] = (char)(0x80 | (c >> 12 & 0x3f));
	to[2] = (char)(0x80 | (c >> 6 & 0x3f));
	to[3] = (char)(0x80 | (c & 0x3f));
	return 4;
}

/* Decodes \u0041 or a surrogate pair; in->at is after the u. NUL and unpaired surrogates are rejected. */
static bool unescape_unicode(struct json_in *in, size_t *to)
{
	unsigned c, low;

	if (!hex4(in, in->at, &c))
		return false;
	in->at += 4;
	if (c >= 0xd800 && c < 0xdc00) {
		if (in->n - in->at < 6 || in->text[in->at] != '\\' || in->text[in->at + 1] != 'u' ||
		    !hex4(in, in->at + 2, &low) || low < 0xdc00 || low > 0xdfff)
			return false;
		c = 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
		in->at += 6;
	} else if (!c || (c >= 0xdc00 && c < 0xe000)) {
		return false;
	}
	*to += put_utf8(in->text + *to, c);
	return true;
}

static bool unescape(struct json_in *in, size_t *to)
{
	static const char from[] = "\"\\/bfnrt", into[] = "\"\\/\b\f\n\r\t";
	const char *hit;

	if (++in->at >= in->n)
		return false;
	if (in->text[in->at] == 'u') {
		in->at++;
		return unescape_unicode(in, to);
	}
	hit = in->text[in->at] ? strchr(from, in->text[in->at]) : NULL;
	if (!hit)
		return false;
	in->text[(*to)++] = into[hit - from];
	in->at++;
	return true;
}

/* Scans a string from after its opening quote to after its closing one. False, with in->why set: invalid. */
static bool scan_string(struct json_in *in, struct str *out)
{
	size_t start = in->at, to;

	while (in->at < in->n && in->text[in->at] != '"' && in->text[in->at] != '\\' &&
	       (unsigned char)in->text[in->at] >= 0x20)
		in->at++;
	to = in->at;
	while (in->at < in->n && in->text[in->at] != '"') {
		if ((unsigned char)in->text[in->at] < 0x20) {
			in->why = "a string contains a control character";
			return false;
		}
		if (in->text[in->at] != '\\') {
			in->text[to++] = in->text[in->at++];
		} else if (!unescape(in, &to)) {
			in->why = "a string contains an invalid escape sequence";
			return false;
		}
	}
	if (in->at >= in->n) {
		in->why = "a string has no closing quote";
		return false;
	}
	in->at++;
	*out = str_n(in->text + start, to - start);
	return true;
}

static bool is_digit(const struct json_in *in)
{
	return in->at < in->n && in->text[in->at] >= '0' && in->text[in->at] <= '9';
}

static bool skip_digits(struct json_in *in)
{
	bool any = is_digit(in);

	while (is_digit(in))
		in->at++;
	return any;
}

static bool is_one_of(const struct json_in *in, const char *set)
{
	return in->at < in->n && in->text[in->at] && strchr(set, in->text[in->at]);
}

static bool scan_number(struct json_in *in, struct str *out)
{
	size_t start = in->at;

	if (is_one_of(in, "-"))
		in->at++;
	if (is_one_of(in, "0"))
		in->at++;
	else if (!skip_digits(in))
		return false;
	if (is_one_of(in, ".")) {
		in->at++;
		if (!skip_digits(in))
			return false;
	}
	if (is_one_of(in, "eE")) {
		in->at++;
		if (is_one_of(in, "+-"))
			in->at++;
		if (!skip_digits(in))
			return false;
	}
	*out = str_n(in->text + start, in->at - start);
	return true;
}

static bool scan_literal(struct json_in *in, struct str *out)
{
	static const char *const words[] = { "true", "false", "null" };

	for (size_t i = 0; i < countof(words); i++) {
		size_t n = strlen(words[i]);

		if (in->n - in->at < n || memcmp(in->text + in->at, words[i], n) != 0)
			continue;
		*out = str_n(in->text + in->at, n);
		in->at += n;
		return true;
	}
	return false;
}

static enum json_token begin_nested(struct json_in *in, char kind)
{
	if (in->depth >= JSON_IN_DEPTH)
		return bad(in, "values are nested too deeply");
	in->open[in->depth++] = kind;
	in->at++;
	in->state = kind == '{' ? WANT_FIRST_KEY : WANT_FIRST;
	return kind == '{' ? JSON_IN_OBJECT : JSON_IN_ARRAY;
}

static enum json_token end_nested(struct json_in *in)
{
	in->at++;
	in->depth--;
	value_done(in);
	return JSON_IN_CLOSE;
}

static enum json_token read_value(struct json_in *in, struct str *out)
{
	char c = in->text[in->at];
	enum json_token token;

	if (c == '{' || c == '[')
		return begin_nested(in, c);
	if (c == '"') {
		in->at++;
		if (!scan_string(in, out))
			return bad(in, in->why);
		token = JSON_IN_STRING;
	} else if (c == '-' || is_digit(in)) {
		if (!scan_number(in, out))
			return bad(in, "invalid number");
		token = JSON_IN_NUMBER;
	} else if (scan_literal(in, out)) {
		token = JSON_IN_LITERAL;
	} else {
		return bad(in, "expected a value");
	}
	value_done(in);
	return token;
}

static enum json_token read_key(struct json_in *in, struct str *out)
{
	if (in->text[in->at] != '"')
		return bad(in, "expected a quoted key");
	in->at++;
	if (!scan_string(in, out))
		return bad(in, in->why);
	skip_blanks(in);
	if (!is_one_of(in, ":"))
		return bad(in, "expected ':' after the key");
	in->at++;
	in->state = WANT_VALUE;
	return JSON_IN_KEY;
}

/* After a value: the end of the innermost object or array, or a comma and the next member. */
static enum json_token next_member(struct json_in *in, struct str *out)
{
	bool object = in->open[in->depth - 1] == '{';

	if (in->text[in->at] == (object ? '}' : ']'))
		return end_nested(in);
	if (in->text[in->at] != ',')
		return bad(in, object ? "expected ',' or '}'" : "expected ',' or ']'");
	in->at++;
	in->state = object ? WANT_KEY : WANT_VALUE;
	skip_blanks(in);
	if (in->at >= in->n)
		return bad(in, "the text ends too early");
	return object ? read_key(in, out) : read_value(in, out);
}

enum json_token json_next(struct json_in *in, struct str *out)
{
	if (in->state == STATE_BAD)
		return JSON_IN_BAD;
	skip_blanks(in);
	if (in->state == STATE_DONE)
		return in->at < in->n ? bad(in, "unexpected text after the value") : JSON_IN_DONE;
	if (in->at >= in->n)
		return bad(in, in->at ? "the text ends too early" : "the text is empty");
	switch (in->state) {
	case WANT_FIRST:
		return in->text[in->at] == ']' ? end_nested(in) : read_value(in, out);
	case WANT_FIRST_KEY:
		return in->text[in->at] == '}' ? end_nested(in) : read_key(in, out);
	case WANT_KEY:
		return read_key(in, out);
	case WANT_NEXT:
		return next_member(in, out);
	default:
		return read_value(in, out);
	}
}

bool json_leave(struct json_in *in)
{
	unsigned until = in->depth ? in->depth - 1 : 0;
	struct str ignored;

	while (in->depth > until)
		if (json_next(in, &ignored) <= JSON_IN_DONE)
			return false;
	return true;
}

bool json_skip(struct json_in *in, enum json_token token)
{
	if (token == JSON_IN_OBJECT || token == JSON_IN_ARRAY)
		return json_leave(in);
	return token > JSON_IN_DONE;
}

void json_position(const struct json_in *in, unsigned *line, unsigned *column)
{
	size_t at = min_of(in->at, in->n), start = 0;

	*line = 1;
	for (size_t i = 0; i < at; i++)
		if (in->text[i] == '\n') {
			++*line;
			start = i + 1;
		}
	*column = (unsigned)(at - start) + 1;
}
