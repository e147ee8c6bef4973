/*
 * The JSON writer. Doubles get the fewest digits that read back as the same value.
 */
#include "base/json.h"

#include "base/num.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

static void newline(struct json *j)
{
	if (!j->indent)
		return;
	buf_putc(j->out, '\n');
	buf_pad(j->out, ' ', (size_t)j->indent * j->depth);
}

/* Writes the separator before a value or key: a comma unless it is the first member of its level. */
static void put_separator(struct json *j)
{
	if (j->after_key) {
		j->after_key = false;
		return;
	}
	if (!j->depth)
		return;
	if (j->full[j->depth - 1])
		buf_puts(j->out, j->indent ? "," : ", ");
	j->full[j->depth - 1] = true;
	newline(j);
}

void json_begin(struct json *j, char kind)
{
	put_separator(j);
	buf_putc(j->out, kind);
	if (j->depth == JSON_DEPTH) {
		j->out->bad = true;
		return;
	}
	j->full[j->depth] = false;
	j->close[j->depth++] = kind == '{' ? '}' : ']';
}

void json_end(struct json *j)
{
	bool full;

	if (!j->depth)
		return;
	full = j->full[--j->depth];
	if (full)
		newline(j);
	buf_putc(j->out, j->close[j->depth]);
}

void json_key(struct json *j, const char *key)
{
	put_separator(j);
	json_quote(j->out, str_of(key));
	buf_puts(j->out, ": ");
	j->after_key = true;
}

/* Writes the character at the start of `s`, which is not ASCII. Returns its length in bytes. */
static size_t put_multibyte(struct buf *out, struct str s)
{
	size_t len = str_utf8_len(s);

	if (!len)
		buf_puts(out, "\\ufffd");
	else if (str_printable_len(s))
		buf_put(out, s.s, len);
	else			/* at most U+2069 */
		buf_printf(out, "\\u%04x", str_utf8_code(s.s, len));
	return max_of(len, (size_t)1);
}

void json_quote(struct buf *out, struct str s)
{
	static const char named[] = "\"\\\b\f\n\r\t", letters[] = "\"\\bfnrt";

	buf_putc(out, '"');
	for (size_t i = 0; i < s.n;) {
		unsigned char c = (unsigned char)s.s[i];
		const char *p = c ? strchr(named, c) : NULL;
		size_t len = 1;

		if (p) {
			char esc[2] = { '\\', letters[p - named] };

			buf_put(out, esc, 2);
		} else if (c < 0x20 || c == 0x7f) {
			buf_printf(out, "\\u%04x", c);
		} else if (c < 0x80) {
			buf_putc(out, (char)c);
		} else {
			len = put_multibyte(out, str_n(s.s + i, s.n - i));
		}
		i += len;
	}
	buf_putc(out, '"');
}

void json_strn(struct json *j, struct str s)
{
	put_separator(j);
	json_quote(j->out, s);
}

void json_str(struct json *j, const char *s)
{
	if (s)
		json_strn(j, str_of(s));
	else
		json_null(j);
}

void json_u64(struct json *j, uint64_t v)
{
	put_separator(j);
	buf_u64(j->out, v);
}

void json_i64(struct json *j, int64_t v)
{
	put_separator(j);
	buf_printf(j->out, "%" PRId64, v);
}

void json_double(struct json *j, double v)
{
	char text[40];
	double back;

	if (!isfinite(v)) {
		json_null(j);
		return;
	}
	put_separator(j);
	for (int digits = 6; digits <= 17; digits++) {
		char *comma;

		snprintf(text, sizeof(text), "%.*g", digits, v);
		comma = strchr(text, ',');	/* a locale's decimal comma */
		if (comma)
			*comma = '.';
		if (num_double(str_of(text), &back) == 0 && back == v)
			break;
	}
	buf_puts(j->out, text);
}

void json_bool(struct json *j, bool v)
{
	json_raw(j, v ? "true" : "false");
}

void json_null(struct json *j)
{
	json_raw(j, "null");
}

void json_raw(struct json *j, const char *text)
{
	put_separator(j);
	if (text)
		buf_puts(j->out, text);
	else
		j->out->bad = true;
}
