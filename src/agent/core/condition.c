/*
 * Conditions: see the header for the grammar.
 */
#include "agent/core/condition.h"

#include <errno.h>

#include "base/error.h"
#include "base/num.h"

struct condition_parser {
	const char *text, *at;
	struct tacho_error *e;
};

static void blanks(struct condition_parser *s)
{
	while (*s->at == ' ' || *s->at == '\t')
		s->at++;
}

static int wrong(struct condition_parser *s, const char *what)
{
	error_set(s->e, -EINVAL, "%s", what);
	error_at(s->e, (size_t)(s->at - s->text), 1);
	error_hint(s->e, "e.g. rate(context-switches) > 50000 for 5s");
	return -EINVAL;
}

static bool eat(struct condition_parser *s, char c)
{
	blanks(s);
	if (*s->at != c)
		return false;
	s->at++;
	return true;
}

/* What stands up to one of `stop`, without blanks around it. */
static struct str up_to(struct condition_parser *s, const char *stop)
{
	size_t n;

	blanks(s);
	n = strcspn(s->at, stop);
	s->at += n;
	return str_trim(str_n(s->at - n, n));
}

static int take_func(struct condition_parser *s, struct condition *c)
{
	static const char *const names[] = { "rate", "value", "max_rate", "max_value" };
	struct str word = up_to(s, "( \t{><");

	for (size_t i = 0; i < countof(names); i++)
		if (str_is(word, names[i])) {
			c->func = (enum condition_func)i;
			return eat(s, '(') ? 0 : wrong(s, "a '(' is missing");
		}
	s->at -= word.n;
	return wrong(s, "a condition begins with rate, value, max_rate or max_value");
}

static int take_label(struct condition_parser *s, struct condition *c)
{
	struct str name = up_to(s, "=,}"), value;
	bool quoted;

	if (!name.n || !eat(s, '='))
		return wrong(s, "a label is name=\"value\"");
	quoted = eat(s, '"');
	value = up_to(s, quoted ? "\"" : ",}");
	if (quoted && !eat(s, '"'))
		return wrong(s, "the closing '\"' is missing");
	return strlist_add(&c->labels, name) || strlist_add(&c->labels, value) ? -ENOMEM : 0;
}

static int take_event(struct condition_parser *s, struct condition *c)
{
	struct str event = up_to(s, "{)");
	int err = 0;

	if (!event.n)
		return wrong(s, "the event's name is missing");
	c->event = str_dup(event);
	if (!c->event)
		return error_nomem(s->e);
	if (eat(s, '{')) {
		do
			err = take_label(s, c);
		while (err == 0 && eat(s, ','));
		if (err < 0)
			return err == -ENOMEM ? error_nomem(s->e) : err;
		if (!eat(s, '}'))
			return wrong(s, "a '}' is missing");
	}
	return eat(s, ')') ? 0 : wrong(s, "a ')' is missing");
}

static int take_limit(struct condition_parser *s, struct condition *c)
{
	bool less, equal;
	struct str number;

	blanks(s);
	less = *s->at == '<';
	if (!less && *s->at != '>')
		return wrong(s, "one of > >= < <= is missing");
	s->at++;
	equal = *s->at == '=';
	s->at += equal;
	c->op = less ? (equal ? CONDITION_LE : CONDITION_LT) : (equal ? CONDITION_GE : CONDITION_GT);
	number = up_to(s, " \t");
	if (num_double(number, &c->limit) < 0) {
		s->at -= number.n;
		return wrong(s, "a number is missing");
	}
	return 0;
}

static int take_for(struct condition_parser *s, struct condition *c)
{
	struct str word;

	blanks(s);
	if (!*s->at)
		return 0;
	word = up_to(s, " \t");
	if (!str_is(word, "for")) {
		s->at -= word.n;
		return wrong(s, "only 'for DURATION' may follow");
	}
	word = up_to(s, "");
	if (num_duration_ns(word, &c->for_ns) == 0)
		return 0;
	s->at -= word.n;
	return wrong(s, "'for' needs a duration such as 5s");
}

int condition_parse(struct condition *out, const char *text, struct tacho_error *e)
{
	struct condition_parser s = { text, text, e };
	struct condition c = { 0 };
	int err = take_func(&s, &c);

	if (err == 0)
		err = take_event(&s, &c);
	if (err == 0)
		err = take_limit(&s, &c);
	if (err == 0)
		err = take_for(&s, &c);
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
