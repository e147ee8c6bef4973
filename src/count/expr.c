/*
 * The metric expression language: a recursive descent parser that emits stack machine code while it reads.
 *
 *	cond    := or ['if' or 'else' cond]
 *	or      := and ('||' and)*			and so on down the table of operators:
 *						&&  |  ^  &  < > <= >= == !=  + -  * / %
 *	unary   := '-' unary | '(' cond ')' | NUMBER | NAME | '[' NAME ']' | '#' NAME
 *		 | 'min' '(' cond ',' cond ')' | 'has_event' '(' NAME ')' ...
 *
 * A single `=` means `==`, and a blank is allowed within `> =`: Intel's files contain both. The length of the
 * text, the nesting depth, the number of operations and the stack are bounded.
 */
#include "count/expr.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>

#include "base/num.h"
#include "base/vec.h"

#define DEPTH_MAX 64

struct expr_parser {
	struct tacho_expr *x;
	const char *text, *at;
	unsigned depth;			/* nesting depth */
	unsigned height;		/* stack height after the code emitted so far */
	struct tacho_error *e;
};

static int parse_cond(struct expr_parser *p);

static int refuse(struct expr_parser *p, const char *at, const char *what)
{
	error_set(p->e, -EINVAL, "the expression has %s", what);
	error_at(p->e, (size_t)(at - p->text), 1);
	return -EINVAL;
}

/* Appends an operation that pops `takes` values and pushes one. */
static int emit(struct expr_parser *p, struct expr_code code, unsigned takes)
{
	struct expr_code *slot;

	if (p->x->code.n >= EXPR_OPS_MAX)
		return refuse(p, p->at, "too many operations");
	slot = vec_add(&p->x->code);
	if (!slot)
		return error_nomem(p->e);
	*slot = code;
	p->height = p->height - takes + 1;
	if (p->height > EXPR_STACK_MAX)
		return refuse(p, p->at, "too many levels of nesting");
	return 0;
}

static int emit_input(struct expr_parser *p, enum tacho_input kind, const char *name)
{
	struct tacho_expr_input *in;
	size_t i = 0;

	while (i < p->x->inputs.n && (p->x->inputs.v[i].kind != kind || strcmp(p->x->inputs.v[i].name, name)))
		i++;
	if (i >= EXPR_INPUTS_MAX)
		return refuse(p, p->at, "too many names");
	if (i == p->x->inputs.n) {
		in = vec_add(&p->x->inputs);
		if (!in)
			return error_nomem(p->e);
		*in = (struct tacho_expr_input){ kind, name };
	}
	return emit(p, (struct expr_code){ .op = OP_INPUT, .n = (uint32_t)i }, 0);
}

static void skip_blanks(struct expr_parser *p)
{
	while (isspace((unsigned char)*p->at))
		p->at++;
}

static bool accept(struct expr_parser *p, char c)
{
	skip_blanks(p);
	if (*p->at != c)
		return false;
	p->at++;
	return true;
}

static bool accept_word(struct expr_parser *p, const char *word)
{
	size_t n = strlen(word);

	skip_blanks(p);
	if (strncmp(p->at, word, n) || isalnum((unsigned char)p->at[n]) || p->at[n] == '_')
		return false;
	p->at += n;
	return true;
}

/* ---- names and numbers ---- */

static bool name_char(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '.' || c == ':' || c == '@' || c == '\\';
}

/* A name with its backslashes resolved and @ turned into /. */
static int parse_plain_name(struct expr_parser *p, const char **out)
{
	const char *from = p->at;
	char *name, *to;

	while (name_char(*p->at))
		p->at += *p->at == '\\' && p->at[1] ? 2 : 1;
	name = to = arena_alloc(&p->x->names, (size_t)(p->at - from) + 1);
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

/* [cpu-cycles:k]: everything up to the closing bracket, unchanged. */
static int parse_bracket_name(struct expr_parser *p, const char **out)
{
	const char *from = p->at, *end = strchr(from, ']');
	size_t n = end ? (size_t)(end - from) : 0;
	char *name;

	if (!n)
		return refuse(p, from - 1, end ? "an empty name" : "a '[' that is never closed");
	name = arena_alloc(&p->x->names, n + 1);
	if (!name)
		return error_nomem(p->e);
	memcpy(name, from, n);
	p->at = end + 1;
	*out = name;
	return 0;
}

static int parse_name(struct expr_parser *p, const char **out)
{
	const char *at;
	int err;

	if (accept(p, '['))
		return parse_bracket_name(p, out);
	at = p->at;
	err = parse_plain_name(p, out);
	if (err == 0 && !**out)
		return refuse(p, at, *at ? "a character that does not belong there" : "an unexpected end");
	return err;
}

static const char *skip_digits(const char *s)
{
	while (isdigit((unsigned char)*s) || *s == '.')
		s++;
	return s;
}

static int parse_number(struct expr_parser *p)
{
	const char *from = p->at;
	uint64_t hex;
	double v;

	if (from[0] == '0' && (from[1] | 32) == 'x') {
		for (p->at += 2; isxdigit((unsigned char)*p->at);)
			p->at++;
		if (num_hex(str_n(from + 2, (size_t)(p->at - from) - 2), &hex) < 0)
			return refuse(p, from, "a malformed number");
		return emit(p, (struct expr_code){ .op = OP_NUMBER, .number = (double)hex }, 0);
	}
	p->at = skip_digits(p->at);
	if ((*p->at | 32) == 'e') {
		const char *digits = p->at + 1 + (p->at[1] == '-' || p->at[1] == '+');

		if (isdigit((unsigned char)*digits))
			for (p->at = digits; isdigit((unsigned char)*p->at);)
				p->at++;
	}
	if (num_double(str_n(from, (size_t)(p->at - from)), &v) < 0)
		return refuse(p, from, "a malformed number");
	return emit(p, (struct expr_code){ .op = OP_NUMBER, .number = v }, 0);
}

/* ---- functions ---- */

static const struct {
	const char *name;
	enum expr_op op;		/* operation of a function with two values */
	enum tacho_input kind;		/* OP_INPUT: kind of input of a function with a name */
} calls[] = {
	{ "min", OP_MIN, 0 },
	{ "max", OP_MAX, 0 },
	{ "d_ratio", OP_RATIO, 0 },
	{ "has_event", OP_INPUT, TACHO_INPUT_HAS_EVENT },
	{ "source_count", OP_INPUT, TACHO_INPUT_SOURCE_COUNT },
	{ "strcmp_cpuid_str", OP_INPUT, TACHO_INPUT_CPUID },
};

static int close_call(struct expr_parser *p)
{
	if (accept(p, ','))
		return refuse(p, p->at, "too many arguments");
	return accept(p, ')') ? 0 : refuse(p, p->at, "a '(' that is never closed");
}

static int parse_two_values(struct expr_parser *p, enum expr_op op)
{
	int err = parse_cond(p);

	if (err == 0 && !accept(p, ','))
		err = refuse(p, p->at, "too few arguments");
	if (err == 0)
		err = parse_cond(p);
	if (err == 0)
		err = close_call(p);
	return err < 0 ? err : emit(p, (struct expr_code){ .op = op }, 2);
}

/* A CPU ID may contain characters that names do not: 0x00000000410fd0c0, GenuineIntel-6-55-[01234]. */
static int parse_cpuid(struct expr_parser *p, const char **out)
{
	struct str id;
	char *copy;

	id = str_trim(str_n(p->at, strcspn(p->at, ")")));
	if (!id.n)
		return refuse(p, p->at, "too few arguments");
	copy = arena_alloc(&p->x->names, id.n + 1);
	if (!copy)
		return error_nomem(p->e);
	memcpy(copy, id.s, id.n);
	p->at += strcspn(p->at, ")");
	*out = copy;
	return 0;
}

static int parse_call(struct expr_parser *p, const char *at, const char *name)
{
	const char *arg = "";
	size_t i = 0;
	int err;

	while (i < countof(calls) && strcmp(calls[i].name, name) != 0)
		i++;
	if (i == countof(calls))
		return refuse(p, at, "an unknown function");
	if (calls[i].op != OP_INPUT)
		return parse_two_values(p, calls[i].op);
	err = calls[i].kind == TACHO_INPUT_CPUID ? parse_cpuid(p, &arg) : parse_name(p, &arg);
	if (err == 0)
		err = close_call(p);
	return err < 0 ? err : emit_input(p, calls[i].kind, arg);
}

/* ---- operator precedence ---- */

static int parse_name_or_call(struct expr_parser *p)
{
	const char *at, *name = "";
	int err;

	skip_blanks(p);
	at = p->at;
	if (accept(p, '#')) {
		err = parse_name(p, &name);
		return err < 0 ? err : emit_input(p, TACHO_INPUT_LITERAL, name);
	}
	err = parse_name(p, &name);
	if (err < 0)
		return err;
	if (*at != '[' && accept(p, '('))
		return parse_call(p, at, name);
	if (strcmp(name, "NaN") == 0)
		return emit(p, (struct expr_code){ .op = OP_NUMBER, .number = NAN }, 0);
	return emit_input(p, TACHO_INPUT_EVENT, name);
}

static int parse_unary(struct expr_parser *p)
{
	int err;

	if (p->depth >= DEPTH_MAX)
		return refuse(p, p->at, "too many levels of nesting");
	if (accept(p, '-')) {
		p->depth++;
		err = parse_unary(p);
		p->depth--;
		return err < 0 ? err : emit(p, (struct expr_code){ .op = OP_NEGATE }, 1);
	}
	if (accept(p, '(')) {
		p->depth++;
		err = parse_cond(p);
		p->depth--;
		if (err == 0 && !accept(p, ')'))
			return refuse(p, p->at, "a '(' that is never closed");
		return err;
	}
	skip_blanks(p);
	if (isdigit((unsigned char)*p->at) || (*p->at == '.' && isdigit((unsigned char)p->at[1])))
		return parse_number(p);
	return parse_name_or_call(p);
}

/* Sorted by precedence, lowest first; of operators with the same first character, the longer one first. */
static const struct { char first, second; uint8_t level, op; } operators[] = {
	{ '|', '|', 0, OP_OR }, { '&', '&', 1, OP_AND }, { '|', 0, 2, OP_BIT_OR },
	{ '^', 0, 3, OP_BIT_XOR }, { '&', 0, 4, OP_BIT_AND }, { '=', '=', 5, OP_EQUAL },
	{ '!', '=', 5, OP_DIFFERENT }, { '<', '=', 5, OP_AT_MOST }, { '>', '=', 5, OP_AT_LEAST },
	{ '<', 0, 5, OP_LESS }, { '>', 0, 5, OP_MORE }, { '=', 0, 5, OP_EQUAL },
	{ '+', 0, 6, OP_ADD }, { '-', 0, 6, OP_SUBTRACT }, { '*', 0, 7, OP_MULTIPLY },
	{ '/', 0, 7, OP_DIVIDE }, { '%', 0, 7, OP_MODULO },
};
#define LEVELS 8

static int next_operator(struct expr_parser *p, size_t level)
{
	const char *second;

	skip_blanks(p);
	if (!*p->at)
		return -1;
	for (second = p->at + 1; *second == ' ';)
		second++;
	for (size_t i = 0; i < countof(operators); i++) {
		bool pair = operators[i].second != 0;

		if (operators[i].first != *p->at || (pair && operators[i].second != *second))
			continue;
		if (operators[i].level != level)
			return -1;
		p->at = pair ? second + 1 : p->at + 1;
		return operators[i].op;
	}
	return -1;
}

/* Parses operators of precedence `level` and higher. */
static int parse_level(struct expr_parser *p, size_t level)
{
	int err = level == LEVELS ? parse_unary(p) : parse_level(p, level + 1), op;

	while (err == 0 && level < LEVELS && (op = next_operator(p, level)) >= 0) {
		err = parse_level(p, level + 1);
		if (err == 0)
			err = emit(p, (struct expr_code){ .op = (uint8_t)op }, 2);
	}
	return err;
}

static void reverse(struct expr_code *v, size_t n)
{
	for (size_t i = 0; i < n / 2; i++) {
		struct expr_code kept = v[i];

		v[i] = v[n - 1 - i];
		v[n - 1 - i] = kept;
	}
}

static bool is_constant(const struct tacho_expr *x, size_t from, size_t to)
{
	for (size_t i = from; i < to; i++)
		if (x->code.v[i].op == OP_INPUT &&
		    (x->inputs.v[x->code.v[i].n].kind == TACHO_INPUT_EVENT ||
		     x->inputs.v[x->code.v[i].n].kind == TACHO_INPUT_SOURCE_COUNT))
			return false;
	return true;
}

/* Parses the rest of "a if c else b"; the code of `a` starts at `first`. The code of the condition must run
 * before it, so the two are exchanged. */
static int parse_if(struct expr_parser *p, size_t first)
{
	size_t n_a = p->x->code.n - first, n_condition, jump;
	unsigned height = p->height;
	bool constant;
	int err = parse_level(p, 0);

	if (err == 0 && !accept_word(p, "else"))
		err = refuse(p, p->at, "an 'if' without its 'else'");
	if (err < 0)
		return err;
	n_condition = p->x->code.n - first - n_a;
	constant = is_constant(p->x, first + n_a, p->x->code.n);
	err = emit(p, (struct expr_code){ .op = OP_JUMP_FALSE, .constant = constant, .n = (uint32_t)n_a + 1,
					  .n_condition = (uint32_t)n_condition }, 1);
	if (err < 0)
		return err;
	reverse(p->x->code.v + first, n_a);
	reverse(p->x->code.v + first + n_a, n_condition + 1);
	reverse(p->x->code.v + first, n_a + n_condition + 1);
	jump = p->x->code.n;
	err = emit(p, (struct expr_code){ .op = OP_JUMP, .constant = constant }, 1);
	p->height = height - 1;
	if (err == 0)
		err = parse_cond(p);
	if (err == 0)
		p->x->code.v[jump].n = (uint32_t)(p->x->code.n - jump - 1);
	return err;
}

static int parse_cond(struct expr_parser *p)
{
	size_t first = p->x->code.n;
	int err;

	if (p->depth >= DEPTH_MAX)
		return refuse(p, p->at, "too many levels of nesting");
	p->depth++;
	err = parse_level(p, 0);
	if (err == 0 && accept_word(p, "if"))
		err = parse_if(p, first);
	p->depth--;
	return err;
}

static int parse_all(struct expr_parser *p)
{
	int err;

	if (strnlen(p->text, EXPR_TEXT_MAX + 1) > EXPR_TEXT_MAX)
		return error_set(p->e, -EINVAL, "the expression is longer than %u bytes", EXPR_TEXT_MAX);
	err = parse_cond(p);
	if (err < 0)
		return err;
	skip_blanks(p);
	return *p->at ? refuse(p, p->at, "text after its end") : 0;
}

int tacho_expr_new(struct tacho_expr **out, const char *text, struct tacho_error *e)
{
	struct tacho_expr *x = calloc(1, sizeof(*x));
	struct expr_parser p = { .x = x, .text = text, .at = text, .e = e };
	int err = x ? parse_all(&p) : error_nomem(e);

	if (err < 0) {
		tacho_expr_free(x);
		return err;
	}
	*out = x;
	return 0;
}

void tacho_expr_free(struct tacho_expr *x)
{
	if (!x)
		return;
	arena_done(&x->names);
	vec_done(&x->code);
	vec_done(&x->inputs);
	free(x);
}

size_t tacho_expr_inputs(const struct tacho_expr *x, const struct tacho_expr_input **out)
{
	*out = x->inputs.v;
	return x->inputs.n;
}
