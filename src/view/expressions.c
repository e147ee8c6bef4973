/*
 * See expressions.h. An expression becomes a view_def like those of the table: its values are columns, or the weight of a
 * histogram, and its filter is the conditions of the rule that makes the rows.
 */
#include "view/expressions.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/num.h"
#include "view/fields.h"

#define MAX_ARGUMENTS 8
#define MAX_EXPRESSIONS 4

struct expression {			/* the parts of the text */
	struct str probe, signature, types, values, filter, label;
};

struct expression_type {
	const char *name;
	uint8_t bytes;
	bool is_signed;
	enum view_show show;
};

static const struct expression_type types[] = {
	{ "int", 4, true, SHOW_SIGNED }, { "s32", 4, true, SHOW_SIGNED }, { "pid_t", 4, true, SHOW_SIGNED },
	{ "int32_t", 4, true, SHOW_SIGNED }, { "s16", 2, true, SHOW_SIGNED }, { "short", 2, true, SHOW_SIGNED },
	{ "int16_t", 2, true, SHOW_SIGNED }, { "s8", 1, true, SHOW_SIGNED }, { "int8_t", 1, true, SHOW_SIGNED },
	{ "char", 1, true, SHOW_SIGNED },
	{ "long", 8, true, SHOW_RESULT }, { "s64", 8, true, SHOW_RESULT }, { "int64_t", 8, true, SHOW_RESULT },
	{ "ssize_t", 8, true, SHOW_RESULT }, { "off_t", 8, true, SHOW_RESULT }, { "long long", 8, true, SHOW_RESULT },
	{ "unsigned", 4, false, SHOW_NUMBER }, { "unsigned int", 4, false, SHOW_NUMBER }, { "u32", 4, false, SHOW_NUMBER },
	{ "uint32_t", 4, false, SHOW_NUMBER }, { "uint", 4, false, SHOW_NUMBER }, { "mode_t", 4, false, SHOW_NUMBER },
	{ "u16", 2, false, SHOW_NUMBER }, { "uint16_t", 2, false, SHOW_NUMBER }, { "unsigned short", 2, false, SHOW_NUMBER },
	{ "u8", 1, false, SHOW_NUMBER }, { "uint8_t", 1, false, SHOW_NUMBER }, { "bool", 1, false, SHOW_NUMBER },
	{ "unsigned char", 1, false, SHOW_NUMBER },
	{ "size_t", 8, false, SHOW_NUMBER }, { "u64", 8, false, SHOW_NUMBER }, { "uint64_t", 8, false, SHOW_NUMBER },
	{ "unsigned long", 8, false, SHOW_NUMBER }, { "unsigned long long", 8, false, SHOW_NUMBER },
};

struct expression_parser {
	struct view_def *def;
	struct argument_texts *texts;
	struct expression text;
	struct str names[MAX_ARGUMENTS];	/* of the function's arguments */
	size_t n_names;
	bool is_return, is_tracepoint;
	bool uses_entry;		/* values of the call are needed at the return */
	struct view_part entry[VIEW_SLOTS];
	size_t n_entry;
	struct tacho_error *e;
};

void argument_texts_done(struct argument_texts *t)
{
	arena_done(&t->arena);
}

/* Cuts *rest at the first `sep` outside parentheses. */
static struct str cut_outside(struct str *rest, char sep)
{
	struct str whole = *rest;
	unsigned depth = 0;

	for (size_t i = 0; i < whole.n; i++) {
		char c = whole.s[i];

		depth += c == '(';
		depth -= c == ')' && depth;
		if (c == sep && !depth) {
			*rest = str_n(whole.s + i + 1, whole.n - i - 1);
			return str_n(whole.s, i);
		}
	}
	*rest = (struct str){ 0 };
	return whole;
}

static int split(const char *text, struct expression *out, struct tacho_error *e)
{
	struct str rest = str_of(text), body;
	const char *open = strchr(text, '('), *close = open ? strchr(open, ')') : NULL;

	*out = (struct expression){ 0 };
	if (!close) {
		error_set(e, -EINVAL, "'%s' has no signature: write FUNCTION() or FUNCTION(int first, char *second)", text);
		error_hint(e, "as in 'p:c:malloc(size_t size):size_t:size'");
		return -EINVAL;
	}
	out->probe = str_n(text, (size_t)(open - text));
	out->signature = str_n(open + 1, (size_t)(close - open - 1));
	rest = str_of(close + 1);
	body = cut_outside(&rest, '#');
	out->label = rest;
	if (!body.n)
		return 0;
	if (body.s[0] != ':')
		return error_set(e, -EINVAL, "'%.*s' is not understood: after the signature comes a colon and a type", STR(body));
	body = str_n(body.s + 1, body.n - 1);
	out->types = cut_outside(&body, ':');
	out->values = cut_outside(&body, ':');
	out->filter = body;
	if (!out->values.n)
		return error_set(e, -EINVAL, "'%s' has a type but no expression", text);
	return 0;
}

static bool is_name_char(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* "const char *path" is called path. */
static void parse_signature(struct expression_parser *p)
{
	struct str rest = p->text.signature;

	while (rest.n && p->n_names < MAX_ARGUMENTS) {
		struct str one = str_trim(cut_outside(&rest, ','));
		size_t n = one.n;

		while (n && is_name_char(one.s[n - 1]))
			n--;
		p->names[p->n_names++] = str_n(one.s + n, one.n - n);
	}
}

static const char *keep(struct expression_parser *p, struct str text)
{
	return arena_str(&p->texts->arena, text);
}

static int find_type(struct expression_parser *p, struct str name, const struct expression_type **out)
{
	static const struct expression_type pointer = { "pointer", 8, false, SHOW_HEX };

	name = str_trim(name);
	if (name.n && name.s[name.n - 1] == '*') {
		*out = &pointer;
		return 0;
	}
	for (size_t i = 0; i < countof(types); i++)
		if (str_is(name, types[i].name)) {
			*out = &types[i];
			return 0;
		}
	error_set(p->e, -EINVAL, "the type '%.*s' is not known", STR(name));
	error_hint(p->e, "types are int, long, size_t, u8 to u64, s8 to s64, and pointers");
	return -EINVAL;
}

/* An argument of the call, by its name or as arg1. */
static int parse_argument(struct expression_parser *p, struct str name, struct view_part *out)
{
	scoped(buf_done) struct buf field = { 0 };

	for (size_t i = 0; i < p->n_names; i++)
		if (str_eq(p->names[i], name))
			buf_printf(&field, "arg%zu", i + 1);
	if (!field.n)
		buf_str(&field, name);
	*out = (struct view_part){ .source = VIEW_FIELD, .field = buf_failed(&field) ? NULL : keep(p, buf_view(&field)) };
	return out->field ? 0 : error_nomem(p->e);
}

/* $entry(x): stored when the function is called. */
static int parse_entry(struct expression_parser *p, struct str name, struct view_part *out)
{
	int err;

	if (p->n_entry == VIEW_SLOTS)
		return error_set(p->e, -EINVAL, "there can be %d values of the call", VIEW_SLOTS);
	err = parse_argument(p, name, &p->entry[p->n_entry]);
	*out = (struct view_part){ .source = VIEW_SLOT, .slot = (uint8_t)p->n_entry++ };
	p->uses_entry = true;
	return err;
}

static int parse_value(struct expression_parser *p, struct str text, struct view_part *out)
{
	uint64_t number;

	text = str_trim(text);
	if (num_u64(text, &number) == 0) {
		*out = (struct view_part){ .source = VIEW_CONSTANT, .constant = number };
		return 0;
	}
	if (str_is(text, "$retval") && p->is_return) {
		*out = (struct view_part){ .source = VIEW_FIELD, .field = "retval" };
		return 0;
	}
	if (str_is(text, "$latency") && p->is_return) {
		*out = (struct view_part){ .source = VIEW_DELTA };
		p->uses_entry = true;
		return 0;
	}
	if (str_starts(text, "$entry(") && p->is_return && text.s[text.n - 1] == ')')
		return parse_entry(p, str_trim(str_n(text.s + 7, text.n - 8)), out);
	if (str_is(text, "$PID")) {
		*out = (struct view_part){ .source = VIEW_PID };
		return 0;
	}
	if (str_starts(text, "args->") && p->is_tracepoint)
		return parse_argument(p, str_n(text.s + 6, text.n - 6), out);
	for (size_t i = 0; i < text.n; i++)
		if (!is_name_char(text.s[i]) || p->is_return) {
			error_set(p->e, -EINVAL, "'%.*s' is not understood", STR(text));
			error_hint(p->e, p->is_return ? "at a return there are $retval, $latency and $entry(ARGUMENT)" :
				   p->is_tracepoint ? "a field of a tracepoint is args->FIELD" :
				   "a value is the name of an argument, a number, or $PID");
			return -EINVAL;
		}
	return parse_argument(p, text, out);
}

static int add_value(struct expression_parser *p, size_t i, struct str type_text, struct str text, bool as_column)
{
	const struct expression_type *type;
	struct view_part part = { 0 };
	int err = find_type(p, type_text, &type);

	if (err == 0)
		err = parse_value(p, text, &part);
	if (err < 0)
		return err;
	part.bytes = part.source == VIEW_FIELD && !p->is_tracepoint ? type->bytes : 0;
	part.is_signed = type->is_signed;
	if (!as_column) {
		p->def->weight = part;
		return 0;
	}
	p->def->columns[i] = (struct view_column){ .title = keep(p, p->text.label.n ? p->text.label : str_trim(text)),
		.key = keep(p, str_trim(text)), .width = 20, .is_left = true, .show = type->show, .part = part };
	return p->def->columns[i].title && p->def->columns[i].key ? 0 : error_nomem(p->e);
}

static int add_values(struct expression_parser *p, bool as_columns)
{
	struct str t = p->text.types, v = p->text.values;
	size_t n = 0;
	int err = 0;

	for (; err == 0 && v.n; n++) {
		struct str type = cut_outside(&t, ','), value = cut_outside(&v, ',');

		if (n == MAX_EXPRESSIONS || (!as_columns && n))
			return error_set(p->e, -EINVAL, as_columns ? "there can be %d expressions" :
					 "a histogram has one expression; count several with --totals", MAX_EXPRESSIONS);
		err = add_value(p, n, type, value, as_columns);
	}
	return err;
}

static const struct {
	const char *text;
	enum view_relation relation;
	uint64_t add;			/* x > n is x >= n + 1 */
} operators[] = {
	{ "==", VIEW_EQ, 0 }, { "!=", VIEW_NE, 0 }, { ">=", VIEW_GE, 0 }, { "<=", VIEW_LT, 1 }, { ">", VIEW_GE, 1 }, { "<", VIEW_LT, 0 },
};

static int parse_condition(struct expression_parser *p, struct str text, struct view_condition *out)
{
	for (size_t i = 0; i < countof(operators); i++) {
		const char *at = memmem(text.s, text.n, operators[i].text, strlen(operators[i].text));
		struct str left, right;
		int64_t number;

		if (!at)
			continue;
		left = str_n(text.s, (size_t)(at - text.s));
		at += strlen(operators[i].text);
		right = str_trim(str_n(at, (size_t)(text.s + text.n - at)));
		if (num_i64(right, &number) < 0 && num_u64(right, (uint64_t *)&number) < 0)
			break;
		*out = (struct view_condition){ .relation = operators[i].relation, .right = (uint64_t)number + operators[i].add,
						.is_signed = true };
		return parse_value(p, left, &out->left);
	}
	error_set(p->e, -EINVAL, "the filter '%.*s' is not understood", STR(text));
	error_hint(p->e, "a filter compares a value with a number: size>64&&size<=4096");
	return -EINVAL;
}

/* Arguments are compared with the type that was given for the same value, else as they are. */
static void set_condition_type(const struct expression_parser *p, struct view_condition *c)
{
	const struct view_part *known = &p->def->weight;

	for (size_t i = 0; i <= MAX_EXPRESSIONS; known = &p->def->columns[i++].part)
		if (known->source == c->left.source && known->field && c->left.field && !strcmp(known->field, c->left.field)) {
			c->left.bytes = known->bytes;
			c->left.is_signed = known->is_signed;
		}
}

static int parse_filter(struct expression_parser *p, struct view_rule *rule)
{
	struct str rest = p->text.filter;
	size_t n = 0;
	int err = 0;

	while (err == 0 && rest.s && str_trim(rest).n) {
		const char *and = memmem(rest.s, rest.n, "&&", 2);
		struct str one = and ? str_n(rest.s, (size_t)(and - rest.s)) : rest;

		rest = and ? str_n(and + 2, rest.n - one.n - 2) : (struct str){ 0 };
		if (n == VIEW_TESTS)
			return error_set(p->e, -EINVAL, "a filter can have %d conditions", VIEW_TESTS);
		err = parse_condition(p, str_trim(one), &rule->when[n]);
		if (err == 0)
			set_condition_type(p, &rule->when[n++]);
	}
	return err;
}

/* The rule that makes rows, and before it the one that stores what the call has. */
static int make_rules(struct expression_parser *p)
{
	struct view_rule *rules = p->def->rules;
	struct view_rule *last = &rules[0];
	int err;

	*last = (struct view_rule){ .event = p->is_return ? VIEW_RETURN : VIEW_CALL, .action = VIEW_HIT, .emits = true };
	err = parse_filter(p, last);
	if (err < 0 || !p->uses_entry)
		return err;
	rules[1] = rules[0];
	rules[1].action = VIEW_TAKE;
	rules[1].key[0].source = VIEW_TID;
	rules[1].key[1] = (struct view_part){ .source = VIEW_FIELD, .field = "sp" };
	rules[0] = (struct view_rule){ .event = VIEW_CALL, .action = VIEW_SAVE,
		.writes = VIEW_SET_TIME | VIEW_SET_SLOTS | VIEW_CREATE, .key[0].source = VIEW_TID,
		.key[1] = { .source = VIEW_FIELD, .field = "caller_sp" } };
	memcpy(rules[0].slots, p->entry, sizeof(rules[0].slots));
	return 0;
}

int view_expressions_parse(struct view_def *def, struct argument_texts *texts, struct view_functions *f, struct tacho *t,
			   const struct tacho_view_opts *opts, struct tacho_error *e)
{
	struct expression_parser p = { .def = def, .texts = texts, .e = e };
	scoped(freep) char *probe = NULL;
	bool as_columns;
	int err = opts->n_args > 1 ? error_set(e, -EINVAL, "argdist takes one expression") : split(opts->args[0], &p.text, e);

	if (err < 0)
		return err;
	probe = str_dup(p.text.probe);
	if (!probe)
		return error_nomem(e);
	p.is_return = str_starts(p.text.probe, "r:");
	p.is_tracepoint = str_starts(p.text.probe, "t:");
	parse_signature(&p);
	if (p.text.values.n)
		as_columns = opts->totals;
	else
		as_columns = def->info.has_histogram = false;
	def->info.has_histogram &= !as_columns;
	err = add_values(&p, as_columns);
	if (err == 0)
		err = make_rules(&p);
	if (err == 0)
		err = view_functions_add(f, t, probe, p.is_return, e);
	def->unit_ns = def->weight.source == VIEW_DELTA ? 1 : 0;
	return err;
}
