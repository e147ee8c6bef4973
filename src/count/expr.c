/*
 * The metric expression language: a recursive descent parser and a tree walker.
 *
 *	cond  := or ['if' or 'else' cond]
 *	or    := rel (('|' | '^' | '&') rel)*
 *	rel   := sum (('<' | '>') sum)*
 *	sum   := prod (('+' | '-') prod)*
 *	prod  := unary (('*' | '/' | '%') unary)*
 *	unary := '-' unary | '(' cond ')' | NUMBER | NAME | NAME '(' cond (',' cond)* ')' | '#' NAME
 *
 * A missing value is NAN and spreads through arithmetic; a division by zero is NAN as well, so
 * that "nothing was counted" never shows up as infinity. Nesting is bounded.
 */
#include "count/expr.h"

#include "base/num.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>

#define DEPTH_MAX 64

enum expr_kind { X_NUMBER, X_EVENT, X_LITERAL, X_NEGATE, X_BINARY, X_IF, X_CALL };
enum expr_call { CALL_MIN, CALL_MAX, CALL_D_RATIO, CALL_HAS_EVENT };

struct expr {
	enum expr_kind kind;
	char op;			/* X_BINARY */
	enum expr_call call;
	double number;
	const char *name;		/* X_EVENT, X_LITERAL */
	const struct expr *a, *b, *c;	/* X_IF: a if b else c */
};

static const struct {
	const char *name;
	enum expr_call call;
	unsigned n_args;
} calls[] = {
	{ "min", CALL_MIN, 2 },
	{ "max", CALL_MAX, 2 },
	{ "d_ratio", CALL_D_RATIO, 2 },
	{ "has_event", CALL_HAS_EVENT, 1 },
};

struct parser {
	struct arena *arena;
	const char *text, *at;
	unsigned depth;
	struct tacho_error *e;
};

static int parse_cond(struct parser *p, const struct expr **out);

static int refuse(struct parser *p, const char *at, const char *what)
{
	error_set(p->e, -EINVAL, "the expression has %s", what);
	error_at(p->e, (size_t)(at - p->text), 1);
	return -EINVAL;
}

static int make(struct parser *p, struct expr model, const struct expr **out)
{
	struct expr *x = arena_alloc(p->arena, sizeof(*x));

	if (!x)
		return error_nomem(p->e);
	*x = model;
	*out = x;
	return 0;
}

static void skip_blanks(struct parser *p)
{
	while (isspace((unsigned char)*p->at))
		p->at++;
}

static bool accept(struct parser *p, char c)
{
	skip_blanks(p);
	if (*p->at != c)
		return false;
	p->at++;
	return true;
}

static bool accept_word(struct parser *p, const char *word)
{
	size_t n = strlen(word);

	skip_blanks(p);
	if (strncmp(p->at, word, n) || isalnum((unsigned char)p->at[n]) || p->at[n] == '_')
		return false;
	p->at += n;
	return true;
}

static bool name_char(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '.' || c == ':' || c == '@' || c == '\\';
}

/* A name with its backslashes resolved and @ turned into /. */
static int parse_name(struct parser *p, const char **out)
{
	const char *from = p->at;
	char *name, *to;

	while (name_char(*p->at))
		p->at += *p->at == '\\' && p->at[1] ? 2 : 1;
	name = to = arena_alloc(p->arena, (size_t)(p->at - from) + 1);
	if (!name)
		return error_nomem(p->e);
	for (const char *s = from; s < p->at; s++) {
		if (*s == '\\' && s + 1 < p->at)
			*to++ = *++s;
		else
			*to++ = *s == '@' ? '/' : *s;
	}
	*out = name;
	return 0;
}

static int parse_number(struct parser *p, const struct expr **out)
{
	const char *from = p->at;
	double v;

	while (isdigit((unsigned char)*p->at) || *p->at == '.')
		p->at++;
	if ((*p->at == 'e' || *p->at == 'E') &&
	    (isdigit((unsigned char)p->at[1]) ||
	     ((p->at[1] == '-' || p->at[1] == '+') && isdigit((unsigned char)p->at[2])))) {
		p->at += 2;
		while (isdigit((unsigned char)*p->at))
			p->at++;
	}
	if (num_double(str_n(from, (size_t)(p->at - from)), &v) < 0)
		return refuse(p, from, "a malformed number");
	return make(p, (struct expr){ .kind = X_NUMBER, .number = v }, out);
}

static int parse_call(struct parser *p, const char *at, const char *name, const struct expr **out)
{
	struct expr x = { .kind = X_CALL };
	const struct expr *args[2] = { NULL, NULL };
	unsigned n = 0, want = 0;

	for (size_t i = 0; i < countof(calls); i++) {
		if (strcmp(calls[i].name, name) == 0) {
			x.call = calls[i].call;
			want = calls[i].n_args;
		}
	}
	if (!want)
		return refuse(p, at, "a function that is not known");
	do {
		int err = n < want ? parse_cond(p, &args[n]) : refuse(p, p->at, "too many arguments");

		if (err < 0)
			return err;
		n++;
	} while (accept(p, ','));
	if (n < want)
		return refuse(p, p->at, "too few arguments");
	if (!accept(p, ')'))
		return refuse(p, p->at, "a '(' that is never closed");
	x.a = args[0];
	x.b = args[1];
	return make(p, x, out);
}

static int parse_word(struct parser *p, const struct expr **out)
{
	const char *at = p->at;
	struct expr x = { .kind = X_EVENT };
	int err;

	if (*p->at == '#') {
		p->at++;
		x.kind = X_LITERAL;
	}
	err = parse_name(p, &x.name);
	if (err < 0 || !x.name)
		return err;
	if (!x.name[0])
		return refuse(p, at, *at ? "a character that does not belong there" : "an end too early");
	if (x.kind == X_EVENT && accept(p, '('))
		return parse_call(p, at, x.name, out);
	if (x.kind == X_EVENT && strcmp(x.name, "NaN") == 0)
		x = (struct expr){ .kind = X_NUMBER, .number = NAN };
	return make(p, x, out);
}

static int parse_unary(struct parser *p, const struct expr **out)
{
	struct expr x = { .kind = X_NEGATE };
	int err;

	if (p->depth >= DEPTH_MAX)
		return refuse(p, p->at, "too deep a nesting");
	if (accept(p, '-')) {
		p->depth++;
		err = parse_unary(p, &x.a);
		p->depth--;
		return err < 0 ? err : make(p, x, out);
	}
	if (accept(p, '(')) {
		p->depth++;
		err = parse_cond(p, out);
		p->depth--;
		if (err == 0 && !accept(p, ')'))
			return refuse(p, p->at, "a '(' that is never closed");
		return err;
	}
	skip_blanks(p);
	if (isdigit((unsigned char)*p->at) || (*p->at == '.' && isdigit((unsigned char)p->at[1])))
		return parse_number(p, out);
	return parse_word(p, out);
}

/* Operators by level, loosest first. */
static const char *const levels[] = { "|^&", "<>", "+-", "*/%" };

static int parse_level(struct parser *p, size_t level, const struct expr **out)
{
	int err = level == countof(levels) ? parse_unary(p, out) : parse_level(p, level + 1, out);

	if (level == countof(levels))
		return err;
	while (err == 0) {
		struct expr x = { .kind = X_BINARY, .a = *out };

		skip_blanks(p);
		if (!*p->at || !strchr(levels[level], *p->at))
			return 0;
		x.op = *p->at++;
		err = parse_level(p, level + 1, &x.b);
		if (err == 0)
			err = make(p, x, out);
	}
	return err;
}

static int parse_cond(struct parser *p, const struct expr **out)
{
	struct expr x = { .kind = X_IF };
	int err;

	if (p->depth >= DEPTH_MAX)
		return refuse(p, p->at, "too deep a nesting");
	p->depth++;
	err = parse_level(p, 0, out);
	if (err == 0 && accept_word(p, "if")) {
		x.a = *out;
		err = parse_level(p, 0, &x.b);
		if (err == 0 && !accept_word(p, "else"))
			err = refuse(p, p->at, "an 'if' without its 'else'");
		if (err == 0)
			err = parse_cond(p, &x.c);
		if (err == 0)
			err = make(p, x, out);
	}
	p->depth--;
	return err;
}

int expr_parse(struct arena *arena, const char *text, const struct expr **out,
	       struct tacho_error *e)
{
	struct parser p = { .arena = arena, .text = text, .at = text, .e = e };
	const struct expr *x;
	int err = parse_cond(&p, &x);

	if (err < 0)
		return err;
	skip_blanks(&p);
	if (*p.at)
		return refuse(&p, p.at, "something behind its end");
	*out = x;
	return 0;
}

static double binary(char op, double a, double b)
{
	if (isnan(a) || isnan(b))
		return NAN;
	switch (op) {
	case '+':
		return a + b;
	case '-':
		return a - b;
	case '*':
		return a * b;
	case '/':
		return b == 0 ? NAN : a / b;
	case '%':
		return b == 0 ? NAN : fmod(a, b);
	case '<':
		return a < b;
	case '>':
		return a > b;
	case '&':
		return a != 0 && b != 0;
	case '|':
		return a != 0 || b != 0;
	default:
		return (a != 0) != (b != 0);
	}
}

static double call(const struct expr *x, const struct tacho_metric_env *env)
{
	double a = expr_eval(x->a, env), b;

	if (x->call == CALL_HAS_EVENT)
		return !isnan(a);
	b = expr_eval(x->b, env);
	if (isnan(a) || isnan(b))
		return NAN;
	if (x->call == CALL_MIN)
		return min_of(a, b);
	if (x->call == CALL_MAX)
		return max_of(a, b);
	return b == 0 ? 0 : a / b;
}

double expr_eval(const struct expr *x, const struct tacho_metric_env *env)
{
	double c;

	switch (x->kind) {
	case X_NUMBER:
		return x->number;
	case X_EVENT:
		return env->event(env->arg, x->name);
	case X_LITERAL:
		return env->literal ? env->literal(env->arg, x->name) : NAN;
	case X_NEGATE:
		return -expr_eval(x->a, env);
	case X_BINARY:
		return binary(x->op, expr_eval(x->a, env), expr_eval(x->b, env));
	case X_IF:
		c = expr_eval(x->b, env);
		return isnan(c) ? NAN : expr_eval(c != 0 ? x->a : x->c, env);
	default:
		return call(x, env);
	}
}

/* Whether it can be evaluated before anything was counted. */
static bool is_constant(const struct expr *x)
{
	if (!x)
		return true;
	if (x->kind == X_EVENT)
		return false;
	return is_constant(x->a) && is_constant(x->b) && is_constant(x->c);
}

int expr_events(const struct expr *x, const struct tacho_metric_env *env,
		int (*fn)(void *arg, const char *event), void *arg)
{
	int err;

	if (!x)
		return 0;
	if (x->kind == X_EVENT)
		return fn(arg, x->name);
	if (x->kind == X_IF && is_constant(x->b)) {
		double c = expr_eval(x->b, env);

		return isnan(c) ? 0 : expr_events(c != 0 ? x->a : x->c, env, fn, arg);
	}
	err = expr_events(x->a, env, fn, arg);
	if (!err)
		err = expr_events(x->b, env, fn, arg);
	return err ? err : expr_events(x->c, env, fn, arg);
}
