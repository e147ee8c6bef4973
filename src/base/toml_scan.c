/*
 * The scalar values of TOML: strings with their escapes, numbers, dates and booleans. A value without
 * quotes is first cut out as a word and then classified by its form, since 1979-05-27 and 1979 begin alike.
 */
#include "base/toml_scan.h"

#include <errno.h>
#include <math.h>

#include "base/error.h"
#include "base/num.h"

bool toml_newline(struct toml_reader *r)
{
	size_t n = toml_peek(r, 0) == '\n' ? 1 : toml_peek(r, 0) == '\r' && toml_peek(r, 1) == '\n' ? 2 : 0;

	if (!n)
		return false;
	r->pos += n;
	r->line_start = r->pos;
	r->line++;
	return true;
}

static void put_utf8(struct buf *b, uint32_t c)
{
	if (c < 0x80) {
		buf_putc(b, (char)c);
		return;
	}
	if (c < 0x800) {
		buf_putc(b, (char)(0xc0 | c >> 6));
	} else {
		if (c < 0x10000) {
			buf_putc(b, (char)(0xe0 | c >> 12));
		} else {
			buf_putc(b, (char)(0xf0 | c >> 18));
			buf_putc(b, (char)(0x80 | (c >> 12 & 0x3f)));
		}
		buf_putc(b, (char)(0x80 | (c >> 6 & 0x3f)));
	}
	buf_putc(b, (char)(0x80 | (c & 0x3f)));
}

/* Decodes \uXXXX or \UXXXXXXXX; the position is after the letter. */
static int escape_code(struct toml_reader *r, struct toml_at at, size_t digits)
{
	uint64_t c;

	if (digits > r->text.n - r->pos ||
	    (toml_peek(r, 1) | 32) == 'x' || num_hex(str_n(r->text.s + r->pos, digits), &c))
		return toml_fail(r, at, "\\%c needs %zu hexadecimal digits", digits == 4 ? 'u' : 'U', digits);
	if (c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
		return toml_fail(r, at, "U+%04llX is not a valid character", (unsigned long long)c);
	put_utf8(&r->word, (uint32_t)c);
	r->pos += digits;
	return 0;
}

/* A backslash at the end of a line removes all blanks and newlines after it. */
static int escape_line(struct toml_reader *r, struct toml_at at)
{
	while (toml_peek(r, 0) == ' ' || toml_peek(r, 0) == '\t')
		r->pos++;
	if (!toml_newline(r))
		return toml_fail(r, at, "a backslash before blanks is only valid at the end of a line");
	while (toml_peek(r, 0) == ' ' || toml_peek(r, 0) == '\t' || toml_newline(r))
		if (toml_peek(r, 0) == ' ' || toml_peek(r, 0) == '\t')
			r->pos++;
	return 0;
}

static int escape(struct toml_reader *r, bool multi)
{
	static const char letters[] = "btnfre\"\\", means[] = "\b\t\n\f\r\33\"\\";
	struct toml_at at = toml_here(r);
	int c = toml_peek(r, 1);
	const char *p = c > 0 ? strchr(letters, c) : NULL;

	if (multi && (c == ' ' || c == '\t' || c == '\n' || c == '\r')) {
		r->pos++;
		return escape_line(r, at);
	}
	if (c == 'u' || c == 'U') {
		r->pos += 2;
		return escape_code(r, at, c == 'u' ? 4 : 8);
	}
	if (!p)
		return toml_fail(r, at, "unknown escape; write a backslash as \\\\, or the text in "
					"single quotes");
	buf_putc(&r->word, means[p - letters]);
	r->pos += 2;
	return 0;
}

/* Skips the closing quotes. In a multi-line string, one or two quotes before them belong to the text. */
static bool skip_closing_quotes(struct toml_reader *r, int quote, bool multi)
{
	size_t n = 0;

	while (n < 5 && toml_peek(r, n) == quote)
		n++;
	if (!multi) {
		r->pos += n > 0;
		return n > 0;
	}
	if (n < 3)
		return false;
	buf_pad(&r->word, (char)quote, n - 3);
	r->pos += n;
	return true;
}

static int string_body(struct toml_reader *r, int quote, bool multi)
{
	struct toml_at begin = toml_here(r);

	r->pos += multi ? 3 : 1;
	if (multi)
		toml_newline(r);
	while (!skip_closing_quotes(r, quote, multi)) {
		int c = toml_peek(r, 0);
		size_t from = r->pos;

		if (c < 0)
			return toml_fail(r, begin, "this string has no closing quote");
		if (multi && toml_newline(r)) {
			buf_put(&r->word, r->text.s + from, r->pos - from);
		} else if (c == '\n' || c == '\r') {
			return toml_fail(r, begin, "this string has no closing quote on its line");
		} else if (quote == '"' && c == '\\') {
			int err = escape(r, multi);

			if (err)
				return err;
		} else if ((c < 0x20 && c != '\t') || c == 0x7f) {
			return toml_fail(r, toml_here(r), "a control character (0x%02x) in a string", c);
		} else {
			buf_putc(&r->word, (char)c);
			r->pos++;
		}
	}
	return 0;
}

int toml_string(struct toml_reader *r, bool key, struct str *out)
{
	int quote = toml_peek(r, 0), err;
	bool multi = toml_peek(r, 1) == quote && toml_peek(r, 2) == quote;
	char *copy;

	if (key && multi)
		return toml_fail(r, toml_here(r), "a key cannot be a multi-line string");
	buf_clear(&r->word);
	err = string_body(r, quote, multi);
	if (err)
		return err;
	copy = buf_failed(&r->word) ? NULL : arena_str(&r->doc->arena, buf_view(&r->word));
	if (!copy)
		return error_nomem(r->e);
	*out = str_n(copy, r->word.n);
	return 0;
}

/* Two digits between `low` and `high` at s.s[at]. */
static bool two_digits(struct str s, size_t at, int low, int high, int *out)
{
	int v;

	if (at + 2 > s.n || s.s[at] < '0' || s.s[at] > '9' || s.s[at + 1] < '0' || s.s[at + 1] > '9')
		return false;
	v = (s.s[at] - '0') * 10 + s.s[at + 1] - '0';
	if (out)
		*out = v;
	return v >= low && v <= high;
}

static bool is_date(struct str s)
{
	static const int days[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
	int century, year, month, day;
	bool leap;

	if (s.n != 10 || s.s[4] != '-' || s.s[7] != '-' || !two_digits(s, 0, 0, 99, &century) ||
	    !two_digits(s, 2, 0, 99, &year) || !two_digits(s, 5, 1, 12, &month) ||
	    !two_digits(s, 8, 1, 31, &day))
		return false;
	year += century * 100;
	leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
	return day <= days[month - 1] + (month == 2 && leap);
}

/* hh:mm:ss[.fraction]; *used is its length. */
static bool is_time(struct str s, size_t *used)
{
	size_t n = 8;

	if (s.n < 8 || s.s[2] != ':' || s.s[5] != ':' || !two_digits(s, 0, 0, 23, NULL) ||
	    !two_digits(s, 3, 0, 59, NULL) || !two_digits(s, 6, 0, 60, NULL))
		return false;
	if (n < s.n && s.s[n] == '.') {
		size_t from = ++n;

		while (n < s.n && s.s[n] >= '0' && s.s[n] <= '9')
			n++;
		if (n == from)
			return false;
	}
	*used = n;
	return true;
}

static bool is_offset(struct str s)
{
	if (s.n == 1)
		return s.s[0] == 'Z' || s.s[0] == 'z';
	return s.n == 6 && (s.s[0] == '+' || s.s[0] == '-') && s.s[3] == ':' &&
	       two_digits(s, 1, 0, 23, NULL) && two_digits(s, 4, 0, 59, NULL);
}

static bool date_kind(struct str s, enum toml_kind *kind)
{
	struct str rest;
	size_t used;

	if (is_time(s, &used) && used == s.n) {
		*kind = TOML_TIME;
		return true;
	}
	if (s.n < 10 || !is_date(str_n(s.s, 10)))
		return false;
	if (s.n == 10) {
		*kind = TOML_DATE;
		return true;
	}
	rest = str_n(s.s + 11, s.n - 11);
	if (!strchr("Tt ", s.s[10]) || !is_time(rest, &used))
		return false;
	*kind = used == rest.n ? TOML_LOCAL_DATETIME : TOML_DATETIME;
	return used == rest.n || is_offset(str_n(rest.s + used, rest.n - used));
}

/* Copies `s` without the underscores between digits. False: an underscore elsewhere, or `s` is too long. */
static bool copy_without_underscores(struct str s, const char *digits, char *out, size_t size, struct str *to)
{
	size_t n = 0;

	for (size_t i = 0; i < s.n; i++) {
		if (s.s[i] == '_') {
			if (!i || i + 1 == s.n || !strchr(digits, s.s[i - 1]) || !strchr(digits, s.s[i + 1]))
				return false;
			continue;
		}
		if (n == size)
			return false;
		out[n++] = s.s[i];
	}
	*to = str_n(out, n);
	return true;
}

/* Parses integers with 0x, 0o or 0b. Returns 0, 1 if there is no such prefix, -EINVAL or -ERANGE. */
static int prefixed_integer(struct str s, int64_t *out)
{
	static const struct { char letter; unsigned shift; const char *digits; } radixes[] = {
		{ 'x', 4, "0123456789abcdefABCDEF" }, { 'o', 3, "01234567" }, { 'b', 1, "01" },
	};
	char text[128];
	uint64_t v = 0;
	struct str plain;

	for (size_t r = 0; r < countof(radixes); r++) {
		if (s.n < 2 || s.s[0] != '0' || s.s[1] != radixes[r].letter)
			continue;
		if (!copy_without_underscores(str_n(s.s + 2, s.n - 2), radixes[r].digits, text, sizeof(text),
					 &plain) || !plain.n)
			return -EINVAL;
		for (size_t i = 0; i < plain.n; i++) {
			const char *p = strchr(radixes[r].digits, plain.s[i]);
			uint64_t d = p ? (uint64_t)(p - radixes[r].digits) : 0;

			if (!p)
				return -EINVAL;
			if (v >> (63 - radixes[r].shift))
				return -ERANGE;
			v = v << radixes[r].shift | (d > 15 ? d - 6 : d);
		}
		*out = (int64_t)v;
		return 0;
	}
	return 1;
}

static size_t n_digits(struct str s, size_t at)
{
	size_t n = 0;

	while (at + n < s.n && s.s[at + n] >= '0' && s.s[at + n] <= '9')
		n++;
	return n;
}

/* Checks the form digits [. digits] [e [sign] digits], without leading zeros. */
static bool is_decimal_number(struct str s, bool *is_float)
{
	size_t at = s.n && (s.s[0] == '+' || s.s[0] == '-'), n = n_digits(s, at);

	*is_float = false;
	if (!n || (n > 1 && s.s[at] == '0'))
		return false;
	at += n;
	if (at < s.n && s.s[at] == '.') {
		n = n_digits(s, ++at);
		at += n;
		*is_float = true;
		if (!n)
			return false;
	}
	if (at < s.n && (s.s[at] == 'e' || s.s[at] == 'E')) {
		at++;
		at += at < s.n && (s.s[at] == '+' || s.s[at] == '-');
		n = n_digits(s, at);
		at += n;
		*is_float = true;
		if (!n)
			return false;
	}
	return at == s.n;
}

static bool special_float(struct str s, double *out)
{
	bool sign = s.n && (s.s[0] == '+' || s.s[0] == '-');
	struct str word = sign ? str_n(s.s + 1, s.n - 1) : s;

	if (str_is(word, "inf"))
		*out = INFINITY;
	else if (str_is(word, "nan"))
		*out = NAN;
	else
		return false;
	if (sign && s.s[0] == '-')
		*out = -*out;
	return true;
}

/* Returns 0, 1 if `s` does not look like a number, -EINVAL if it does but is invalid, or -ERANGE. */
static int parse_number(struct str s, struct toml_value *v)
{
	char text[128];
	struct str plain;
	bool is_float;
	int err = prefixed_integer(s, &v->integer);

	v->kind = TOML_INTEGER;
	if (err <= 0)
		return err;
	v->kind = TOML_FLOAT;
	if (special_float(s, &v->real))
		return 0;
	if (!copy_without_underscores(s, "0123456789", text, sizeof(text), &plain) ||
	    !is_decimal_number(plain, &is_float))
		return s.n && strchr("+-0123456789", s.s[0]) ? -EINVAL : 1;
	if (is_float) {
		err = num_double(plain, &v->real);
		if (err == -ERANGE) {	/* too large for a double: infinite, as in other parsers */
			v->real = plain.s[0] == '-' ? -INFINITY : INFINITY;
			err = 0;
		}
		return err;
	}
	v->kind = TOML_INTEGER;
	if (plain.s[0] == '+')
		plain = str_n(plain.s + 1, plain.n - 1);
	return num_i64(plain, &v->integer);
}

static bool is_word_char(int c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       (c > 0 && strchr("+-_.:", c));
}

/* Cuts a word out of the text. A date and a time may be separated by one blank. */
static struct str cut_word(struct toml_reader *r)
{
	size_t from = r->pos;

	while (is_word_char(toml_peek(r, 0)))
		r->pos++;
	if (r->pos - from == 10 && is_date(str_n(r->text.s + from, 10)) && toml_peek(r, 0) == ' ' &&
	    toml_peek(r, 1) >= '0' && toml_peek(r, 1) <= '9') {
		r->pos++;
		while (is_word_char(toml_peek(r, 0)))
			r->pos++;
	}
	return str_n(r->text.s + from, r->pos - from);
}

static int fail_bad_word(struct toml_reader *r, struct toml_at at, struct str word, int err)
{
	if (!word.n)
		return toml_fail(r, at, "expected a value");
	word.n = min_of(word.n, (size_t)60);
	if (err == -ERANGE)
		return toml_fail(r, at, "'%.*s' does not fit into 64 bits", STR(word));
	if (str_ieq(word, STR_LIT("true")) || str_ieq(word, STR_LIT("false")))
		return toml_fail(r, at, "'%.*s' must be lower case", STR(word));
	toml_fail(r, at, "'%.*s' is not a number, date or boolean", STR(word));
	error_hint(r->e, "write strings in quotes: \"%.*s\"", STR(word));
	return -EINVAL;
}

int toml_scalar(struct toml_reader *r, struct toml_value *v)
{
	struct toml_at at = toml_here(r);
	struct str word = cut_word(r);
	int err;

	if (str_is(word, "true") || str_is(word, "false")) {
		v->kind = TOML_BOOL;
		v->boolean = word.s[0] == 't';
	} else if (!date_kind(word, &v->kind)) {
		err = word.n > 120 ? -EINVAL : parse_number(word, v);
		if (err == -ENOMEM)
			return error_nomem(r->e);
		if (err)
			return fail_bad_word(r, at, word, err);
	}
	v->text.s = arena_str(&r->doc->arena, word);
	v->text.n = word.n;
	return v->text.s ? 0 : error_nomem(r->e);
}
