/*
 * Parses the expressions of a print format: C expressions with the fields of the record as
 * REC->name. Constants are folded while parsing, because tables such as that of gfp_flags contain many
 * constant expressions. Names whose value is known to the kernel only (jiffies) count as zero.
 */
#include "trace/trace.h"

#include <ctype.h>

#include "base/num.h"

void lexer_blanks(struct lexer *l)
{
	while (l->at < l->end && isspace((unsigned char)*l->at))
		l->at++;
}

bool lexer_take(struct lexer *l, const char *mark)
{
	size_t n = strlen(mark);

	lexer_blanks(l);
	if ((size_t)(l->end - l->at) < n || memcmp(l->at, mark, n) != 0)
		return false;
	l->at += n;
	return true;
}

static bool word_char(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

static struct str lexer_word(struct lexer *l)
{
	const char *from;

	lexer_blanks(l);
	for (from = l->at; l->at < l->end && word_char(*l->at); l->at++)
		;
	return str_n(from, (size_t)(l->at - from));
}

struct node *node_new(struct lexer *l, enum node_kind kind)
{
	struct node *n;

	if (l->nodes++ >= TRACE_NODES_MAX)
		return NULL;
	n = arena_alloc(&l->ev->trace->arena, sizeof(*n));
	if (!n)
		l->nomem = true;
	else
		n->kind = kind;
	return n;
}

static struct node *number_node(struct lexer *l, uint64_t v)
{
	struct node *n = node_new(l, NODE_NUMBER);

	if (n)
		n->number = v;
	return n;
}

/* "0x400u", "1UL", "010". */
static struct node *parse_number(struct lexer *l)
{
	struct str word = lexer_word(l);
	uint64_t v;

	while (word.n && strchr("uUlL", word.s[word.n - 1]))
		word.n--;
	if (word.n > 1 && word.s[0] == '0' && (word.s[1] == 'x' || word.s[1] == 'X')) {
		if (num_hex(str_n(word.s + 2, word.n - 2), &v))
			return NULL;
	} else if (word.n > 1 && word.s[0] == '0') {
		for (v = 0; word.n; word = str_n(word.s + 1, word.n - 1)) {
			if (word.s[0] < '0' || word.s[0] > '7')
				return NULL;
			v = v * 8 + (uint64_t)(word.s[0] - '0');
		}
	} else if (num_u64(word, &v)) {
		return NULL;
	}
	return number_node(l, v);
}

static struct node *parse_char(struct lexer *l)
{
	struct node *n = NULL;

	l->at++;
	if (l->end - l->at >= 2 && l->at[0] != '\\' && l->at[1] == '\'') {
		n = number_node(l, (uint8_t)l->at[0]);
		l->at += 2;
	}
	return n;
}

/* ---- casts ---- */

static const struct { const char *word; uint8_t size; bool is_signed; } types[] = {
	{ "u8", 1, false }, { "__u8", 1, false }, { "uint8_t", 1, false }, { "bool", 1, false },
	{ "s8", 1, true }, { "__s8", 1, true }, { "int8_t", 1, true }, { "char", 1, true },
	{ "u16", 2, false }, { "__u16", 2, false }, { "uint16_t", 2, false }, { "umode_t", 2, false },
	{ "s16", 2, true }, { "__s16", 2, true }, { "int16_t", 2, true }, { "short", 2, true },
	{ "u32", 4, false }, { "__u32", 4, false }, { "uint32_t", 4, false }, { "gfp_t", 4, false },
	{ "dev_t", 4, false }, { "uint", 4, false }, { "blk_opf_t", 4, false },
	{ "s32", 4, true }, { "__s32", 4, true }, { "int32_t", 4, true }, { "int", 4, true },
	{ "pid_t", 4, true }, { "u64", 8, false }, { "__u64", 8, false }, { "uint64_t", 8, false },
	{ "s64", 8, true }, { "__s64", 8, true }, { "int64_t", 8, true }, { "loff_t", 8, true },
	{ "long", 0, true }, { "size_t", 0, false }, { "ssize_t", 0, true }, { "sector_t", 8, false },
	{ "ino_t", 0, false }, { "uintptr_t", 0, false },
};

struct cast {
	uint8_t size;
	bool is_signed, pointer, known;
};

static void add_cast_word(struct cast *c, struct str word, unsigned *n_long, bool *is_unsigned)
{
	*n_long += str_is(word, "long");
	*is_unsigned |= str_is(word, "unsigned");
	for (size_t i = 0; i < countof(types); i++) {
		if (!str_is(word, types[i].word))
			continue;
		if (!(c->known && str_is(word, "int"))) {	/* "long int" stays long */
			c->size = types[i].size;
			c->is_signed = types[i].is_signed;
		}
		c->known = true;
	}
}

static bool is_type_word(struct str word)
{
	static const char *const others[] = { "unsigned", "signed", "const", "void", "struct",
					      "union", "enum", "volatile" };

	for (size_t i = 0; i < countof(others); i++)
		if (str_is(word, others[i]))
			return true;
	for (size_t i = 0; i < countof(types); i++)
		if (str_is(word, types[i].word))
			return true;
	return str_ends(word, "_t");
}

/* Parses "unsigned long)" after an opening parenthesis. If it is not a type, returns false and does not advance. */
static bool parse_cast(struct lexer *l, struct cast *c)
{
	const char *before = l->at;
	bool is_unsigned = false, named = false, any = false;
	unsigned n_long = 0;

	*c = (struct cast){ 0 };
	for (;;) {
		struct str word = lexer_word(l);

		if (!word.n)
			break;
		if (isdigit((unsigned char)word.s[0]) || !(named || is_type_word(word))) {
			any = false;
			break;
		}
		any = true;
		named = str_is(word, "struct") || str_is(word, "union") || str_is(word, "enum");
		add_cast_word(c, word, &n_long, &is_unsigned);
	}
	while (any && lexer_take(l, "*"))
		c->pointer = true;
	if (!any || !lexer_take(l, ")")) {
		l->at = before;
		return false;
	}
	if (is_unsigned) {
		if (!c->known)
			c->size = 4;
		c->known = true;
		c->is_signed = false;
	}
	if (c->known && c->size == 0)
		c->size = n_long > 1 ? 8 : l->ev->trace->long_size;
	if (n_long > 1)
		c->size = 8;
	return true;
}

static struct node *parse_unary(struct lexer *l);

static struct node *parse_after_cast(struct lexer *l, const struct cast *c)
{
	struct node *n = node_new(l, NODE_CAST);

	if (!n)
		return NULL;
	n->cast_size = c->known ? c->size : 0;
	n->cast_signed = c->is_signed;
	n->cast_pointer = c->pointer || !c->known;
	n->a = parse_unary(l);
	if (!n->a)
		return NULL;
	if (n->a->kind == NODE_NUMBER) {
		n->number = cast(n, (struct value){ .v = n->a->number }).v;
		n->kind = NODE_NUMBER;
	}
	return n;
}

/* ---- primary expressions ---- */

static struct node *parse_field(struct lexer *l)
{
	const struct tacho_trace_field *f;
	struct node *n;

	if (!lexer_take(l, "->"))
		return NULL;
	f = format_find(l->ev, lexer_word(l));
	n = f ? node_new(l, NODE_FIELD) : NULL;
	if (!n)
		return NULL;
	n->field = f;
	if (!lexer_take(l, "["))
		return n;
	n->kind = NODE_INDEX;
	n->a = parse_expression(l);
	return n->a && lexer_take(l, "]") && f->is_array ? n : NULL;
}

/* Formats of old kernels contain the names of softirqs and a few other constants. */
static struct node *parse_name(struct lexer *l, struct str word)
{
	static const struct { const char *name; unsigned value; } names[] = {
		{ "HI_SOFTIRQ", 0 }, { "TIMER_SOFTIRQ", 1 }, { "NET_TX_SOFTIRQ", 2 },
		{ "NET_RX_SOFTIRQ", 3 }, { "BLOCK_SOFTIRQ", 4 }, { "IRQ_POLL_SOFTIRQ", 5 },
		{ "TASKLET_SOFTIRQ", 6 }, { "SCHED_SOFTIRQ", 7 }, { "HRTIMER_SOFTIRQ", 8 },
		{ "RCU_SOFTIRQ", 9 }, { "HRTIMER_NORESTART", 0 }, { "HRTIMER_RESTART", 1 },
		{ "true", 1 },
	};

	for (size_t i = 0; i < countof(names); i++)
		if (str_is(word, names[i].name))
			return number_node(l, names[i].value);
	l->guessed = true;
	return number_node(l, 0);
}

static struct node *parse_word(struct lexer *l)
{
	struct str word = lexer_word(l);

	if (!word.n)
		return NULL;
	if (str_is(word, "REC"))
		return parse_field(l);
	if (lexer_take(l, "("))
		return parse_call(l, word);
	return parse_name(l, word);
}

static struct node *parse_primary(struct lexer *l)
{
	struct node *n;
	char c;

	lexer_blanks(l);
	if (l->at == l->end)
		return NULL;
	c = *l->at;
	if (isdigit((unsigned char)c))
		return parse_number(l);
	if (c == '\'')
		return parse_char(l);
	if (c == '"') {
		n = node_new(l, NODE_STRING);
		return n && parse_string(l, &n->text) ? n : NULL;
	}
	return parse_word(l);
}

static struct node *parse_parenthesis(struct lexer *l)
{
	struct cast type;
	struct node *n;

	if (parse_cast(l, &type))
		return parse_after_cast(l, &type);
	n = parse_expression(l);
	return n && lexer_take(l, ")") ? n : NULL;
}

static struct node *parse_operator(struct lexer *l, uint8_t op)
{
	struct node *n = node_new(l, NODE_UNARY);

	if (!n)
		return NULL;
	n->op = op;
	n->a = parse_unary(l);
	if (!n->a)
		return NULL;
	if (n->a->kind == NODE_NUMBER) {
		uint64_t v = n->a->number;

		n->number = op == '!' ? !v : op == '~' ? ~v : 0 - v;
		n->kind = NODE_NUMBER;
	}
	return n;
}

static struct node *parse_unary(struct lexer *l)
{
	struct node *n = NULL;

	lexer_blanks(l);
	if (l->at == l->end || l->depth >= TRACE_DEPTH_MAX)
		return NULL;
	l->depth++;
	if (lexer_take(l, "("))
		n = parse_parenthesis(l);
	else if (*l->at == '!' || *l->at == '~' || *l->at == '-')
		n = parse_operator(l, (uint8_t)*l->at++);
	else if (lexer_take(l, "&") || lexer_take(l, "+"))	/* the address of an array has the same value as the array */
		n = parse_unary(l);
	else
		n = parse_primary(l);
	l->depth--;
	return n;
}

/* ---- operators ---- */

static const struct { const char *mark; uint8_t op, binds; } operators[] = {
	{ "||", OP_OR, 1 }, { "&&", OP_AND, 2 }, { "==", OP_EQ, 6 }, { "!=", OP_NE, 6 },
	{ "<<", OP_SHL, 8 }, { ">>", OP_SHR, 8 }, { "<=", OP_LE, 7 }, { ">=", OP_GE, 7 },
	{ "|", '|', 3 }, { "^", '^', 4 }, { "&", '&', 5 }, { "<", '<', 7 }, { ">", '>', 7 },
	{ "+", '+', 9 }, { "-", '-', 9 }, { "*", '*', 10 }, { "/", '/', 10 }, { "%", '%', 10 },
};

static int next_operator(struct lexer *l, unsigned least)
{
	const char *before;

	lexer_blanks(l);
	before = l->at;
	for (size_t i = 0; i < countof(operators); i++) {
		if (!lexer_take(l, operators[i].mark))
			continue;
		if (operators[i].binds >= least)
			return (int)i;
		l->at = before;
		return -1;
	}
	return -1;
}

static struct node *parse_binary(struct lexer *l, unsigned least)
{
	struct node *left = parse_unary(l), *n;
	int i;

	while (left && (i = next_operator(l, least)) >= 0) {
		n = node_new(l, NODE_BINARY);
		if (!n)
			return NULL;
		n->op = operators[i].op;
		n->a = left;
		n->b = parse_binary(l, operators[i].binds + 1u);
		if (!n->b)
			return NULL;
		if (n->a->kind == NODE_NUMBER && n->b->kind == NODE_NUMBER) {
			struct value a = { .v = n->a->number }, b = { .v = n->b->number };

			n->number = binary(n->op, a, b).v;
			n->kind = NODE_NUMBER;
		}
		left = n;
	}
	return left;
}

struct node *parse_expression(struct lexer *l)
{
	struct node *condition, *n;

	if (l->depth >= TRACE_DEPTH_MAX)
		return NULL;
	l->depth++;
	n = condition = parse_binary(l, 1);
	if (condition && lexer_take(l, "?")) {
		n = node_new(l, NODE_CHOICE);
		if (n) {
			n->a = condition;
			n->b = parse_expression(l);
			n->c = n->b && lexer_take(l, ":") ? parse_expression(l) : NULL;
			if (!n->c)
				n = NULL;
		}
	}
	l->depth--;
	return n;
}
