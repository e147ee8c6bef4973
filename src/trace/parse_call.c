/*
 * Parses the helpers that print formats call: __print_flags() and similar ones, and those that access
 * a field's data. If a format calls another helper, the event is printed field by field instead.
 */
#include "trace/trace.h"

#include <ctype.h>

static struct node *close_call(struct lexer *l, struct node *n)
{
	return n && lexer_take(l, ")") ? n : NULL;
}

/* Parses { value, "text" }, ... up to the parenthesis. A text that is not a string ends the table. Values
 * that are not in the format (an enum of the kernel) match nothing. */
static bool parse_pairs(struct lexer *l, struct node *n)
{
	struct { struct node_pair *v; size_t n, cap; } pairs = { 0 };
	bool fine = true, ended = false;

	while (fine && lexer_take(l, "{")) {
		struct node *value, *text;
		struct node_pair *pair;
		bool guessed;

		l->guessed = false;
		value = parse_expression(l);
		guessed = l->guessed;
		text = value && lexer_take(l, ",") ? parse_expression(l) : NULL;
		fine = text && value->kind == NODE_NUMBER && lexer_take(l, "}");
		ended |= fine && text->kind != NODE_STRING;
		if (fine && !ended && !guessed) {
			pair = vec_add(&pairs);
			l->nomem |= !pair;
			if (pair)
				*pair = (struct node_pair){ value->number, text->text };
		}
		lexer_take(l, ",");
	}
	n->n_pairs = pairs.n;
	n->pairs = pairs.n ? arena_alloc(&l->ev->trace->arena, pairs.n * sizeof(*pairs.v)) : NULL;
	if (n->pairs)
		memcpy(n->pairs, pairs.v, pairs.n * sizeof(*pairs.v));
	l->nomem |= pairs.n && !n->pairs;
	vec_done(&pairs);
	return fine && !l->nomem;
}

static struct node *call_flags(struct lexer *l)
{
	struct node *n = node_new(l, NODE_FLAGS);

	if (!n)
		return NULL;
	n->a = parse_expression(l);
	if (!n->a || !lexer_take(l, ",") || !parse_string(l, &n->text))
		return NULL;
	lexer_take(l, ",");
	return parse_pairs(l, n) ? n : NULL;
}

static struct node *call_symbolic(struct lexer *l)
{
	struct node *n = node_new(l, NODE_SYMBOLIC);

	if (!n)
		return NULL;
	n->a = parse_expression(l);
	if (!n->a || !lexer_take(l, ","))
		return NULL;
	return parse_pairs(l, n) ? n : NULL;
}

static struct node *call_field(struct lexer *l, enum node_kind kind)
{
	struct node *n = node_new(l, kind);
	const char *from;

	lexer_blanks(l);
	for (from = l->at; l->at < l->end && (isalnum((unsigned char)*l->at) || *l->at == '_');)
		l->at++;
	if (!n)
		return NULL;
	n->field = format_find(l->ev, str_n(from, (size_t)(l->at - from)));
	return n->field && n->field->is_dynamic ? n : NULL;
}

static struct node *call_str(struct lexer *l)
{
	return call_field(l, NODE_GET_STR);
}

static struct node *call_array(struct lexer *l)
{
	return call_field(l, NODE_GET_ARRAY);
}

static struct node *call_array_len(struct lexer *l)
{
	return call_field(l, NODE_ARRAY_LEN);
}

static struct node *call_bitmask(struct lexer *l)
{
	return call_field(l, NODE_BITMASK);
}

static struct node *two_arguments(struct lexer *l, enum node_kind kind, uint64_t number)
{
	struct node *n = node_new(l, kind);

	if (!n)
		return NULL;
	n->number = number;
	n->a = parse_expression(l);
	n->b = n->a && lexer_take(l, ",") ? parse_expression(l) : NULL;
	return n->b ? n : NULL;
}

static struct node *call_hex(struct lexer *l)
{
	return two_arguments(l, NODE_HEX, 0);
}

static struct node *call_hex_str(struct lexer *l)
{
	return two_arguments(l, NODE_HEX, 1);
}

static struct node *call_list(struct lexer *l)
{
	struct node *n = two_arguments(l, NODE_LIST, 0);

	if (!n || !lexer_take(l, ","))
		return NULL;
	n->c = parse_expression(l);
	return n->c ? n : NULL;
}

static struct node *call_expect(struct lexer *l)
{
	struct node *n = two_arguments(l, NODE_NUMBER, 0);

	return n ? n->a : NULL;
}

/* sizeof(): the format files do not contain the sizes of types, so only these types are supported. */
static struct node *call_sizeof(struct lexer *l)
{
	static const struct { const char *type; unsigned size; } sizes[] = {
		{ "u8", 1 }, { "__u8", 1 }, { "char", 1 }, { "u16", 2 }, { "__u16", 2 }, { "u32", 4 },
		{ "__u32", 4 }, { "int", 4 }, { "unsigned int", 4 }, { "u64", 8 }, { "__u64", 8 },
		{ "struct in6_addr", 16 },
	};
	const char *close = memchr(l->at, ')', (size_t)(l->end - l->at));
	struct str type = close ? str_trim(str_n(l->at, (size_t)(close - l->at))) : (struct str){ 0 };
	struct node *n = node_new(l, NODE_NUMBER);

	for (size_t i = 0; n && i < countof(sizes); i++) {
		if (str_is(type, sizes[i].type)) {
			n->number = sizes[i].size;
			l->at = close;
			return n;
		}
	}
	if (n && (str_is(type, "long") || str_is(type, "unsigned long"))) {
		n->number = l->ev->trace->long_size;
		l->at = close;
		return n;
	}
	return NULL;
}

struct node *parse_call(struct lexer *l, struct str name)
{
	static const struct { const char *name; struct node *(*parse)(struct lexer *); } calls[] = {
		{ "__print_flags", call_flags }, { "__print_flags_u64", call_flags },
		{ "__print_symbolic", call_symbolic }, { "__print_symbolic_u64", call_symbolic },
		{ "__get_str", call_str }, { "__get_rel_str", call_str },
		{ "__get_dynamic_array", call_array }, { "__get_rel_dynamic_array", call_array },
		{ "__get_dynamic_array_len", call_array_len },
		{ "__get_rel_dynamic_array_len", call_array_len },
		{ "__get_bitmask", call_bitmask }, { "__get_rel_bitmask", call_bitmask },
		{ "__get_cpumask", call_bitmask }, { "__get_rel_cpumask", call_bitmask },
		{ "__print_hex", call_hex }, { "__print_hex_str", call_hex_str },
		{ "__print_array", call_list }, { "__builtin_expect", call_expect },
		{ "sizeof", call_sizeof },
	};

	for (size_t i = 0; i < countof(calls); i++)
		if (str_is(name, calls[i].name))
			return close_call(l, calls[i].parse(l));
	return NULL;
}
