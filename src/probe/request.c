/*
 * Parses requests. The text is a single line of bounded length; every error has a position in it.
 */
#include "probe/request.h"

#include <ctype.h>
#include <errno.h>

#include "base/num.h"
#include "base/vec.h"

struct scan {
	struct probe_request *r;
	struct str text;
	size_t at;
	struct tacho_error *e;
};

static int refuse(struct scan *s, size_t column, size_t length, const char *why)
{
	error_set(s->e, -EINVAL, "%s", why);
	error_at(s->e, column, length);
	return -EINVAL;
}

bool probe_is_name(struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		if (!isalnum((unsigned char)s.s[i]) && s.s[i] != '_')
			return false;
	return s.n && !isdigit((unsigned char)s.s[0]);
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

static void skip_blanks(struct scan *s)
{
	while (s->at < s->text.n && is_blank(s->text.s[s->at]))
		s->at++;
}

/* The operators of C++ contain brackets that have no partner: "operator<", "operator()". */
static bool follows_operator(struct str text, size_t at)
{
	while (at && strchr("<>(-=", text.s[at - 1]))
		at--;
	return at >= 8 && memcmp(text.s + at - 8, "operator", 8) == 0;
}

/* The end of the point: the first blank outside quotes, parentheses and template arguments. A lazy pattern may contain
 * blanks only if it is escaped or quoted. */
static size_t point_end(struct str text, size_t at)
{
	unsigned depth = 0;
	char quote = 0;

	for (; at < text.n; at++) {
		char c = text.s[at];

		if (c == '\\' && at + 1 < text.n)
			at++;
		else if (quote)
			quote = c == quote ? 0 : quote;
		else if (c == '\'' || c == '"')
			quote = c;
		else if ((c == '(' || c == '<') && !follows_operator(text, at))
			depth++;
		else if ((c == ')' || c == '>') && depth && (c == ')' || text.s[at - 1] != '-'))
			depth--;
		else if (is_blank(c) && !depth)
			break;
	}
	return at;
}

/* The first of the characters of `set` at or after `at`: not escaped, quoted or within brackets, and not part of "::". */
static size_t find_mark(struct str text, size_t at, const char *set)
{
	unsigned depth = 0;
	char quote = 0;

	for (; at < text.n; at++) {
		char c = text.s[at];

		if (c == '\\' && at + 1 < text.n)
			at++;
		else if (quote)
			quote = c == quote ? 0 : quote;
		else if (c == '\'' || c == '"')
			quote = c;
		else if (c == ':' && at + 1 < text.n && text.s[at + 1] == ':')
			at++;
		else if ((c == '(' || c == '<') && !follows_operator(text, at))
			depth++;
		else if ((c == ')' || c == '>') && depth)
			depth--;
		else if (!depth && strchr(set, c))
			return at;
	}
	return text.n;
}

/* A copy without escapes and quotes. */
static int copy_name(struct scan *s, struct str from, const char **out)
{
	char *to = arena_str(&s->r->text, from);
	size_t n = 0;

	if (!to)
		return error_nomem(s->e);
	for (size_t i = 0; i < from.n; i++) {
		if (from.s[i] == '\\' && i + 1 < from.n)
			i++;
		else if (from.s[i] == '\'' || from.s[i] == '"')
			continue;
		to[n++] = from.s[i];
	}
	to[n] = '\0';
	*out = to;
	return 0;
}

static int parse_event_name(struct scan *s, size_t start, size_t end)
{
	struct str name = str_n(s->text.s + start, end - start), group;
	ptrdiff_t colon = str_find(name, ':');
	int err = 0;

	if (colon >= 0) {
		group = str_n(name.s, (size_t)colon);
		name = str_n(name.s + colon + 1, name.n - (size_t)colon - 1);
		if (!probe_is_name(group) || group.n > EVENT_NAME_MAX)
			return refuse(s, start, group.n, "the name of a group consists of letters, digits and _");
		err = copy_name(s, group, &s->r->group);
	}
	if (!probe_is_name(name) || name.n > EVENT_NAME_MAX)
		return refuse(s, end - name.n, name.n,
			      "the name of an event consists of letters, digits and _, and has at most 63 characters");
	return err < 0 ? err : copy_name(s, name, &s->r->event);
}

static bool looks_like_file(struct str word)
{
	return memchr(word.s, '.', word.n) || memchr(word.s, '/', word.n);
}

static int parse_line(struct scan *s, struct str digits, size_t column)
{
	int err = num_u32(digits, &s->r->point.line);

	if (err < 0 || s->r->point.line > 1u << 24)
		return refuse(s, column, digits.n, "a line is a decimal number");
	s->r->point.has_line = true;
	return 0;
}

static int parse_suffix(struct scan *s, size_t start, size_t end)
{
	struct probe_point *p = &s->r->point;
	struct str word = str_n(s->text.s + start + 1, end - start - 1);

	switch (s->text.s[start]) {
	case ':':
		return parse_line(s, word, start + 1);
	case '+':
		if (num_u64(word, &p->offset) < 0)
			return refuse(s, start + 1, word.n, "an offset is a number of bytes, decimal or hex after 0x");
		return 0;
	case '%':
		if (!str_is(word, "return"))
			return refuse(s, start, word.n + 1, "only %return may follow the name of a function");
		p->is_return = true;
		return 0;
	case ';':
		if (!word.n)
			return refuse(s, start, 1, "the pattern after ';' is empty");
		return copy_name(s, word, &p->pattern);
	default:
		if (!word.n)
			return refuse(s, start, 1, "the name of a file is missing after '@'");
		return copy_name(s, word, &p->file);
	}
}

static int check_point(struct scan *s, size_t start, size_t end)
{
	const struct probe_point *p = &s->r->point;

	if (p->is_return && (p->offset || p->has_line || p->pattern))
		return refuse(s, start, end - start, "%return is for a function as a whole, without offset, line or pattern");
	if (!p->function && (p->offset || p->is_return))
		return refuse(s, start, end - start, "offsets and %return need the name of a function");
	if (p->offset && (p->has_line || p->pattern))
		return refuse(s, start, end - start, "an offset and a line cannot be combined");
	if (p->has_line && p->pattern)
		return refuse(s, start, end - start, "a line and a pattern cannot be combined");
	if (!p->function && p->file && !p->has_line && !p->pattern)
		return refuse(s, start, end - start, "a file needs a line or a pattern: FILE:LINE or FILE;PATTERN");
	if (!p->function && p->has_line && !p->line)
		return refuse(s, start, end - start, "the lines of a file are counted from 1");
	return 0;
}

/* %PROVIDER:NAME, %NAME or sdt_PROVIDER:NAME. */
static int parse_static_probe(struct scan *s, size_t start, size_t end)
{
	struct str word = str_n(s->text.s + start, end - start), provider = STR_LIT("*");
	ptrdiff_t colon = str_find(word, ':');
	int err;

	if (colon >= 0) {
		provider = str_n(word.s, (size_t)colon);
		word = str_n(word.s + colon + 1, word.n - (size_t)colon - 1);
	}
	if (str_starts(provider, "sdt_"))
		provider = str_n(provider.s + 4, provider.n - 4);
	if (!word.n || !provider.n)
		return refuse(s, start, end - start, "a static probe is written %PROVIDER:NAME");
	err = copy_name(s, provider, &s->r->point.provider);
	return err < 0 ? err : copy_name(s, word, &s->r->point.sdt_name);
}

static int parse_address(struct scan *s, size_t start, size_t end)
{
	struct str word = str_n(s->text.s + start, end - start);

	if (num_u64(word, &s->r->point.address) < 0)
		return refuse(s, start, word.n, "an address is a hexadecimal number after 0x");
	s->r->point.has_address = true;
	return 0;
}

static int parse_point(struct scan *s, size_t start, size_t end)
{
	struct str within = str_n(s->text.s, end), word = str_n(s->text.s + start, end - start);
	struct probe_point *p = &s->r->point;
	size_t at = find_mark(within, start, "@+:;%");
	bool is_file;
	int err;

	s->r->point_column = start;
	s->r->point_length = word.n;
	if (word.n && word.s[0] == '%')
		return parse_static_probe(s, start + 1, end);
	if (str_starts(word, "sdt_") && str_find(word, ':') > 0)
		return parse_static_probe(s, start, end);
	if (str_starts(word, "0x"))
		return parse_address(s, start, end);
	if (at == start)
		return refuse(s, start, end - start, "the name of a function, file:line or an address was expected");
	is_file = at < end && (s->text.s[at] == ':' || s->text.s[at] == ';') &&
		  looks_like_file(str_n(s->text.s + start, at - start));
	err = copy_name(s, str_n(s->text.s + start, at - start), is_file ? &p->file : &p->function);
	while (err >= 0 && at < end) {
		size_t next = s->text.s[at] == ';' ? end : find_mark(within, at + 1, "@+:;%");

		err = parse_suffix(s, at, next);
		at = next;
	}
	return err < 0 ? err : check_point(s, start, end);
}

/* Splits "expr:type" at the last ':' outside of brackets, and removes "@user". */
static int split_type(struct scan *s, struct probe_argument *a, struct str text)
{
	size_t colon = text.n;

	if (str_ends(text, "@user")) {
		a->user = true;
		text.n -= 5;
	}
	for (size_t i = text.n; i--;)
		if (text.s[i] == ':' && !(i && text.s[i - 1] == ':') && !(i + 1 < text.n && text.s[i + 1] == ':')) {
			colon = i;
			break;
		}
	if (colon < text.n) {
		struct str type = str_n(text.s + colon + 1, text.n - colon - 1);

		if (!type.n)
			return refuse(s, a->column, a->length, "the type after ':' is missing");
		a->type = arena_str(&s->r->text, type);
	}
	a->text = arena_str(&s->r->text, str_n(text.s, colon));
	if (!a->text || (colon < text.n && !a->type))
		return error_nomem(s->e);
	return a->text[0] ? 0 : refuse(s, a->column, a->length, "the argument has no expression");
}

static int parse_argument(struct scan *s, size_t start, size_t end)
{
	struct str word = str_n(s->text.s + start, end - start);
	ptrdiff_t equals = str_find(word, '=');
	struct probe_argument *a;

	if (s->r->args.n >= REQUEST_ARGS_MAX)
		return refuse(s, start, word.n, "a probe has at most 128 arguments");
	a = vec_add(&s->r->args);
	if (!a)
		return error_nomem(s->e);
	a->column = start;
	a->length = word.n;
	if (equals >= 0) {
		struct str name = str_n(word.s, (size_t)equals);

		if (!probe_is_name(name) || name.n > EVENT_NAME_MAX)
			return refuse(s, start, name.n, "the name of an argument consists of letters, digits and _");
		a->name = arena_str(&s->r->text, name);
		if (!a->name)
			return error_nomem(s->e);
		word = str_n(word.s + equals + 1, word.n - (size_t)equals - 1);
	}
	return split_type(s, a, word);
}

static size_t argument_end(struct str text, size_t at)
{
	unsigned depth = 0;

	for (; at < text.n && (depth || !is_blank(text.s[at])); at++) {
		if (text.s[at] == '(')
			depth++;
		else if (text.s[at] == ')' && depth)
			depth--;
	}
	return at;
}

static int start_scan(struct scan *s, struct probe_request *r, struct str text, struct tacho_error *e)
{
	*s = (struct scan){ .r = r, .text = text, .e = e };
	*r = (struct probe_request){ 0 };
	if (text.n > REQUEST_BYTES_MAX)
		return error_set(e, -EINVAL, "the definition of a probe is longer than %u bytes", REQUEST_BYTES_MAX);
	if (memchr(text.s, '\0', text.n) || memchr(text.s, '\n', text.n))
		return error_set(e, -EINVAL, "the definition of a probe is a single line of text");
	skip_blanks(s);
	return s->at < text.n ? 0 : error_set(e, -EINVAL, "the definition of the probe is empty");
}

int probe_point_parse(struct probe_request *r, struct str text, struct tacho_error *e)
{
	struct scan s;
	int err = start_scan(&s, r, text, e);
	size_t end;

	if (err < 0)
		return err;
	end = point_end(s.text, s.at);
	err = parse_point(&s, s.at, end);
	s.at = end;
	skip_blanks(&s);
	if (err >= 0 && s.at < s.text.n)
		err = refuse(&s, s.at, s.text.n - s.at, "only a function, line or address was expected");
	return err;
}

int probe_request_parse(struct probe_request *r, struct str text, struct tacho_error *e)
{
	struct scan s;
	size_t equals, end;
	int err = start_scan(&s, r, text, e);

	if (err < 0)
		return err;
	end = point_end(text, s.at);
	equals = find_mark(str_n(text.s, end), s.at, "=;");
	if (equals < end && text.s[equals] == '=') {
		err = parse_event_name(&s, s.at, equals);
		s.at = equals + 1;
		end = point_end(text, s.at);
	}
	if (err >= 0)
		err = parse_point(&s, s.at, end);
	s.at = end;
	skip_blanks(&s);
	while (err >= 0 && s.at < text.n) {
		end = argument_end(text, s.at);
		err = parse_argument(&s, s.at, end);
		s.at = end;
		skip_blanks(&s);
	}
	return err;
}

void probe_request_done(struct probe_request *r)
{
	vec_done(&r->args);
	arena_done(&r->text);
}

bool probe_argument_is_set(const struct probe_argument *a)
{
	return strcmp(a->text, "$vars") == 0 || strcmp(a->text, "$params") == 0;
}

bool probe_argument_is_raw(const struct probe_argument *a)
{
	return !probe_argument_is_set(a) && strchr("%@$+-\\", a->text[0]);
}

bool probe_request_has_variables(const struct probe_request *r)
{
	for (size_t i = 0; i < r->args.n; i++)
		if (!probe_argument_is_raw(&r->args.v[i]))
			return true;
	return false;
}
