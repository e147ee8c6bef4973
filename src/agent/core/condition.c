/*
 * Parser of trigger conditions; the grammar is in the header.
 */
#include "agent/core/condition.h"

#include <errno.h>

#include "base/error.h"
#include "base/num.h"

struct condition_parser {
	const char *text, *at;
	struct tacho_error *e;
};

static void skip_blanks(struct condition_parser *s)
{
	while (*s->at == ' ' || *s->at == '\t')
		s->at++;
}

static int syntax_error(struct condition_parser *s, const char *what)
{
	error_set(s->e, -EINVAL, "%s", what);
	error_at(s->e, (size_t)(s->at - s->text), 1);
	error_hint(s->e, "e.g. rate(context-switches) > 50000 for 5s");
	return -EINVAL;
}

static bool skip_char(struct condition_parser *s, char c)
{
	skip_blanks(s);
	if (*s->at != c)
		return false;
	s->at++;
	return true;
}

/* Takes the text up to a character of `stop`, trimmed. */
static struct str take_until(struct condition_parser *s, const char *stop)
{
	size_t n;

	skip_blanks(s);
	n = strcspn(s->at, stop);
	s->at += n;
	return str_trim(str_n(s->at - n, n));
}

static int parse_func(struct condition_parser *s, struct condition *c)
{
	static const char *const names[] = { "rate", "value", "max_rate", "max_value" };
	struct str word = take_until(s, "( \t{><");

	for (size_t i = 0; i < countof(names); i++)
		if (str_is(word, names[i])) {
			c->func = (enum condition_func)i;
			return skip_char(s, '(') ? 0 : syntax_error(s, "a '(' is missing");
		}
	s->at -= word.n;
	return syntax_error(s, "a condition must begin with rate, value, max_rate or max_value");
}

static int parse_label(struct condition_parser *s, struct condition *c)
{
	struct str name = take_until(s, "=,}"), value;
	bool quoted;

	if (!name.n || !skip_char(s, '='))
		return syntax_error(s, "a label is name=\"value\"");
	quoted = skip_char(s, '"');
	value = take_until(s, quoted ? "\"" : ",}");
	if (quoted && !skip_char(s, '"'))
		return syntax_error(s, "the closing '\"' is missing");
	return strlist_add(&c->labels, name) || strlist_add(&c->labels, value) ? -ENOMEM : 0;
}

static int parse_event(struct condition_parser *s, struct condition *c)
{
	struct str event = take_until(s, "{)");
	int err = 0;

	if (!event.n)
		return syntax_error(s, "the event's name is missing");
	c->event = str_dup(event);
	if (!c->event)
		return error_nomem(s->e);
	if (skip_char(s, '{')) {
		do
			err = parse_label(s, c);
		while (err == 0 && skip_char(s, ','));
		if (err < 0)
			return err == -ENOMEM ? error_nomem(s->e) : err;
		if (!skip_char(s, '}'))
			return syntax_error(s, "a '}' is missing");
	}
	return skip_char(s, ')') ? 0 : syntax_error(s, "a ')' is missing");
}

static int parse_limit(struct condition_parser *s, struct condition *c)
{
	bool less, equal;
	struct str number;

	skip_blanks(s);
	less = *s->at == '<';
	if (!less && *s->at != '>')
		return syntax_error(s, "a comparison (> >= < <=) is missing");
	s->at++;
	equal = *s->at == '=';
	s->at += equal;
	c->op = less ? (equal ? CONDITION_LE : CONDITION_LT) : (equal ? CONDITION_GE : CONDITION_GT);
	number = take_until(s, " \t");
	if (num_double(number, &c->limit) < 0) {
		s->at -= number.n;
		return syntax_error(s, "a number is missing");
	}
	return 0;
}

static int parse_for(struct condition_parser *s, struct condition *c)
{
	struct str word;

	skip_blanks(s);
	if (!*s->at)
		return 0;
	word = take_until(s, " \t");
	if (!str_is(word, "for")) {
		s->at -= word.n;
		return syntax_error(s, "unexpected text; only 'for DURATION' may follow the number");
	}
	word = take_until(s, "");
	if (num_duration_ns(word, &c->for_ns) == 0)
		return 0;
	s->at -= word.n;
	return syntax_error(s, "'for' needs a duration such as 5s");
}

int condition_parse(struct condition *out, const char *text, struct tacho_error *e)
{
	struct condition_parser s = { text, text, e };
	struct condition c = { 0 };
	int err = parse_func(&s, &c);

	if (err == 0)
		err = parse_event(&s, &c);
	if (err == 0)
		err = parse_limit(&s, &c);
	if (err == 0)
		err = parse_for(&s, &c);
	if (err < 0) {
		condition_done(&c);
		return err;
	}
	*out = c;
	return 0;
}

void condition_done(struct condition *c)
{
	free(c->event);
	strlist_done(&c->labels);
	*c = (struct condition){ 0 };
}

bool condition_holds(const struct condition *c, double value)
{
	switch (c->op) {
	case CONDITION_GT:
		return value > c->limit;
	case CONDITION_GE:
		return value >= c->limit;
	case CONDITION_LT:
		return value < c->limit;
	default:
		return value <= c->limit;
	}
}
