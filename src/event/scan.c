/*
 * The tokenizer: reads tokens from the spec, skipping blanks between them.
 */
#include "event/parse.h"

#include <errno.h>

int parse_refuse(struct event_parser *p, int code, struct str where)
{
	if (where.s && where.s >= p->text.s && where.s <= p->text.s + p->text.n)
		error_at(p->e, (size_t)(where.s - p->text.s), where.n);
	return code;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

char scan_peek(struct event_parser *p)
{
	while (p->at < p->text.n && is_blank(p->text.s[p->at]))
		p->at++;
	return p->at < p->text.n ? p->text.s[p->at] : '\0';
}

bool scan_take(struct event_parser *p, char c)
{
	if (p->at >= p->text.n || scan_peek(p) != c || p->at >= p->text.n)
		return false;
	p->at++;
	return true;
}

static bool starts_name(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       (c && strchr("_*?[]", c));
}

bool scan_name_char(char c)
{
	return starts_name(c) || c == '.' || c == '!' || c == '-';
}

struct str scan_word(struct event_parser *p)
{
	size_t start;

	if (!starts_name(scan_peek(p)))
		return scan_here(p, 0);
	start = p->at;
	while (p->at < p->text.n && scan_name_char(p->text.s[p->at]))
		p->at++;
	return str_n(p->text.s + start, p->at - start);
}

struct str scan_here(struct event_parser *p, size_t n)
{
	scan_peek(p);
	return str_n(p->text.s + p->at, min_of(n, p->text.n - p->at));
}

struct str scan_since(const struct event_parser *p, size_t start)
{
	return str_trim(str_n(p->text.s + start, p->at - start));
}
