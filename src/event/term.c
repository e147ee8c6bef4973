/*
 * Parses the terms between slashes: key, key=value, and @driver-config. Their meaning is defined by
 * common_terms.c and by the PMU's formats and events.
 */
#include "event/parse.h"

#include <errno.h>
#include <stdio.h>

#include "base/num.h"
#include "base/vec.h"

void term_list_done(struct term_list *l)
{
	vec_done(l);
}

/* Characters of an unquoted value: those of a NAME, and some that join several words, such as ':' and '+'. */
static bool is_value_char(char c)
{
	return scan_name_char(c) || (c && strchr(":+%~|@", c));
}

static int scan_quoted(struct event_parser *p, struct term *term)
{
	char quote = p->text.s[p->at];
	size_t start = ++p->at;
	const char *end = memchr(p->text.s + start, quote, p->text.n - start);

	if (!end) {
		error_set(p->e, -EINVAL, "the quote %c is never closed", quote);
		return parse_refuse(p, -EINVAL, str_n(p->text.s + start - 1, 1));
	}
	p->at = (size_t)(end - p->text.s) + 1;
	term->value = str_n(p->text.s + start, p->at - 1 - start);
	term->quoted = true;
	return 0;
}

static int scan_value(struct event_parser *p, struct term *term)
{
	char c = scan_peek(p);
	size_t start = p->at;

	term->has_value = true;
	if (c == '\'' || c == '"')
		return scan_quoted(p, term);
	while (p->at < p->text.n && is_value_char(p->text.s[p->at]))
		p->at++;
	term->value = str_n(p->text.s + start, p->at - start);
	if (term->value.n)
		return 0;
	error_set(p->e, -EINVAL, "the term '%.*s' has no value after '='", SHOW(term->key));
	return parse_refuse(p, -EINVAL, scan_here(p, 1));
}

/* Scans @TEXT up to the next comma or slash, which is passed to the PMU's driver. */
static void scan_driver(struct event_parser *p, struct term *term)
{
	size_t start = ++p->at;

	while (p->at < p->text.n && p->text.s[p->at] != ',' && p->text.s[p->at] != '/')
		p->at++;
	term->driver = true;
	term->key = str_trim(str_n(p->text.s + start, p->at - start));
}

static int scan_term(struct event_parser *p, struct term_list *out)
{
	struct term term = { 0 }, *slot;
	char c = scan_peek(p);
	size_t start = p->at;
	int err = 0;

	if (c == '@') {
		scan_driver(p, &term);
	} else {
		term.key = scan_word(p);
		if (term.key.n && scan_take(p, '='))
			err = scan_value(p, &term);
	}
	if (err < 0)
		return err;
	if (!term.key.n) {
		error_set(p->e, -EINVAL, "a term was expected here, such as name=WORD or period=N");
		return parse_refuse(p, -EINVAL, scan_here(p, 1));
	}
	term.where = scan_since(p, start);
	slot = vec_add(out);
	if (!slot)
		return error_nomem(p->e);
	*slot = term;
	return 0;
}

static int refuse_unclosed(struct event_parser *p, struct str of, size_t slash)
{
	struct str here = scan_here(p, 1);

	if (!here.n) {
		error_set(p->e, -EINVAL, "the '/' after '%.*s' is never closed", SHOW(of));
		error_hint(p->e, "write %.*s/term=value,.../", SHOW(of));
		return parse_refuse(p, -EINVAL, str_n(p->text.s + slash, 1));
	}
	error_set(p->e, -EINVAL, "unexpected '%c'; ',' or '/' was expected", here.s[0]);
	error_hint(p->e, "quote a value that contains such characters: name='a,b'");
	return parse_refuse(p, -EINVAL, here);
}

int term_list_scan(struct event_parser *p, struct str of, struct term_list *out)
{
	size_t slash = p->at;
	int err;

	if (!scan_take(p, '/'))
		return 0;
	if (scan_take(p, '/')) {
		out->text = str_n(p->text.s + slash + 1, 0);
		return 0;
	}
	do {
		if (!scan_peek(p))
			return refuse_unclosed(p, of, slash);
		err = scan_term(p, out);
		if (err < 0)
			return err;
	} while (scan_take(p, ','));
	out->text = str_trim(str_n(p->text.s + slash + 1, p->at - slash - 1));
	return scan_take(p, '/') ? 0 : refuse_unclosed(p, of, slash);
}

int term_list_push_front(struct term_list *l, struct str word)
{
	if (!vec_add(l))
		return -ENOMEM;
	memmove(l->v + 1, l->v, (l->n - 1) * sizeof(*l->v));
	l->v[0] = (struct term){ .key = word, .where = word };
	return 0;
}

void term_list_drop_front(struct term_list *l)
{
	l->n--;
	memmove(l->v, l->v + 1, l->n * sizeof(*l->v));
}

int term_number(struct event_parser *p, const struct term *term, uint64_t *out)
{
	int err;

	*out = 1;
	if (!term->has_value)
		return 0;
	err = num_u64(term->value, out);
	if (!err)
		return 0;
	error_set(p->e, -EINVAL, err == -ERANGE ? "%.*s does not fit into 64 bits" :
		  "the term needs a number, decimal or hex after 0x, not '%.*s'", SHOW(term->value));
	return parse_refuse(p, -EINVAL, term->value.n ? term->value : term->where);
}
