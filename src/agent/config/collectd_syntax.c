/*
 * Parser of the syntax of collectd.conf. Unquoted words that look like numbers or booleans are parsed
 * as such, as in collectd; some options refuse numbers.
 */
#include "agent/config/collectd_syntax.h"

#include <errno.h>
#include <stdio.h>

#include "base/error.h"
#include "base/num.h"

struct conf_reader {
	struct arena *arena;
	struct str text;
	size_t pos, line_start;
	int line;
	struct toml_at *at;
	struct tacho_error *e;
};

static int peek(const struct conf_reader *r, size_t ahead)
{
	return ahead < r->text.n - r->pos ? (unsigned char)r->text.s[r->pos + ahead] : -1;
}

static struct toml_at current_pos(const struct conf_reader *r)
{
	return (struct toml_at){ r->line, (int)(r->pos - r->line_start) + 1 };
}

static int syntax_error(struct conf_reader *r, struct toml_at at, const char *fmt, ...)
{
	char text[256];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	*r->at = at;
	error_set(r->e, -EINVAL, "%s", text);
	return -EINVAL;
}

static void start_line(struct conf_reader *r)
{
	r->line++;
	r->line_start = r->pos;
}

/* Skips blanks and line continuations (a backslash before the end of a line). */
static void skip_blanks(struct conf_reader *r)
{
	for (;;) {
		if (peek(r, 0) == ' ' || peek(r, 0) == '\t' || peek(r, 0) == '\r') {
			r->pos++;
		} else if (peek(r, 0) == '\\' && (peek(r, 1) == '\n' || (peek(r, 1) == '\r' && peek(r, 2) == '\n'))) {
			r->pos += peek(r, 1) == '\n' ? 2 : 3;
			start_line(r);
		} else {
			return;
		}
	}
}

/* Skips a comment and the end of a line. Returns false if something else follows on the line. */
static bool end_of_line(struct conf_reader *r)
{
	skip_blanks(r);
	if (peek(r, 0) == '#')
		while (peek(r, 0) >= 0 && peek(r, 0) != '\n')
			r->pos++;
	if (peek(r, 0) < 0)
		return true;
	if (peek(r, 0) != '\n')
		return false;
	r->pos++;
	start_line(r);
	return true;
}

static bool is_word_char(int c)
{
	return c > ' ' && !strchr("\"<>#\\", c);
}

static int read_quoted(struct conf_reader *r, struct str *out)
{
	struct toml_at begin = current_pos(r);
	size_t from = ++r->pos, n = 0;
	char *copy;

	while (peek(r, 0) != '"') {
		if (peek(r, 0) < 0)
			return syntax_error(r, begin, "the string is not closed");
		if (peek(r, 0) == '\n')
			return syntax_error(r, begin, "the string is not closed on its line");
		r->pos += peek(r, 0) == '\\' && peek(r, 1) >= 0 ? 2 : 1;
		if (r->pos > 1 && r->text.s[r->pos - 1] == '\n')
			start_line(r);
	}
	copy = arena_alloc(r->arena, r->pos - from + 1);
	if (!copy)
		return error_nomem(r->e);
	for (size_t i = from; i < r->pos; i++) {
		if (r->text.s[i] == '\\' && i + 1 < r->pos)
			i++;
		if (r->text.s[i] != '\n')
			copy[n++] = r->text.s[i];
	}
	r->pos++;
	*out = str_n(copy, n);
	return 0;
}

static int read_word(struct conf_reader *r, struct str *out)
{
	size_t from = r->pos;
	char *copy;

	while (is_word_char(peek(r, 0)))
		r->pos++;
	if (r->pos == from)
		return syntax_error(r, current_pos(r), "expected a word or a quoted string");
	copy = arena_str(r->arena, str_n(r->text.s + from, r->pos - from));
	if (!copy)
		return error_nomem(r->e);
	*out = str_n(copy, r->pos - from);
	return 0;
}

static void set_value_kind(struct conf_value *v)
{
	static const char *const yes[] = { "true", "yes", "on" }, *const no[] = { "false", "no", "off" };
	uint64_t hex;

	for (size_t i = 0; i < countof(yes); i++) {
		if (str_ieq(v->text, str_of(yes[i])) || str_ieq(v->text, str_of(no[i]))) {
			v->kind = CONF_BOOL;
			v->boolean = str_ieq(v->text, str_of(yes[i]));
			return;
		}
	}
	if (num_double(v->text, &v->number) == 0) {
		v->kind = CONF_NUMBER;
	} else if (str_starts(v->text, "0x") && num_hex(v->text, &hex) == 0) {
		v->kind = CONF_NUMBER;
		v->number = (double)hex;
	}
}

static int read_value(struct conf_reader *r, struct conf_value **out)
{
	struct conf_value *v = arena_alloc(r->arena, sizeof(*v));
	int err;

	if (!v) {
		error_nomem(r->e);
		return -ENOMEM;
	}
	v->at = current_pos(r);
	if (peek(r, 0) == '"') {
		err = read_quoted(r, &v->text);
	} else {
		err = read_word(r, &v->text);
		if (!err)
			set_value_kind(v);
	}
	*out = v;
	return err;
}

static int read_values(struct conf_reader *r, struct conf_node *node)
{
	struct conf_value **at = &node->values;

	for (;;) {
		int c, err;

		skip_blanks(r);
		c = peek(r, 0);
		if (c < 0 || c == '\n' || c == '#' || c == '>')
			return 0;
		err = read_value(r, at);
		if (err)
			return err;
		at = &(*at)->next;
		node->n_values++;
	}
}

static int new_node(struct conf_reader *r, struct conf_node *parent, struct conf_node **out)
{
	struct conf_node *node = arena_alloc(r->arena, sizeof(*node));

	*out = node;
	if (!node) {
		error_nomem(r->e);
		return -ENOMEM;
	}
	node->at = current_pos(r);
	node->parent = parent;
	if (parent->last)
		parent->last->next = node;
	else
		parent->first = node;
	parent->last = node;
	return 0;
}

static int read_statement(struct conf_reader *r, struct conf_node *parent)
{
	struct conf_node *node;
	int err = new_node(r, parent, &node);

	if (!err)
		err = read_word(r, &node->key);
	if (!err)
		err = read_values(r, node);
	if (!err && !end_of_line(r))
		err = syntax_error(r, current_pos(r), "unexpected character");
	return err;
}

/* <Key value...>; *parent becomes the new block. */
static int open_block(struct conf_reader *r, struct conf_node **parent)
{
	struct conf_node *node;
	int err = new_node(r, *parent, &node);

	if (err)
		return err;
	r->pos++;
	skip_blanks(r);
	err = read_word(r, &node->key);
	if (!err)
		err = read_values(r, node);
	if (err)
		return err;
	if (peek(r, 0) != '>')
		return syntax_error(r, current_pos(r), "'>' is missing");
	r->pos++;
	if (!end_of_line(r))
		return syntax_error(r, current_pos(r), "unexpected text after '>'");
	node->is_block = true;
	*parent = node;
	return 0;
}

/* </Key>; *current becomes the parent of the block. */
static int close_block(struct conf_reader *r, struct conf_node **current)
{
	const struct conf_node *block = *current;
	struct toml_at at = current_pos(r);
	struct str key = { 0 };
	int err;

	r->pos += 2;
	skip_blanks(r);
	err = read_word(r, &key);
	if (err)
		return err;
	if (!block->parent)
		return syntax_error(r, at, "</%.*s> without an open block",
				    (int)min_of(key.n, (size_t)60), key.s);
	if (!str_ieq(key, block->key))
		return syntax_error(
			r, at, "</%.*s> does not match the open block <%.*s> of line %d",
			(int)min_of(key.n, (size_t)60), key.s,
			(int)min_of(block->key.n, (size_t)60), block->key.s, block->at.line);
	skip_blanks(r);
	if (peek(r, 0) != '>')
		return syntax_error(r, current_pos(r), "'>' is missing");
	r->pos++;
	*current = block->parent;
	return end_of_line(r) ? 0 : syntax_error(r, current_pos(r), "unexpected text after '>'");
}

int conf_parse(struct arena *arena, struct str text, struct conf_node **root, struct toml_at *at,
	       struct tacho_error *e)
{
	struct conf_reader r = { .arena = arena, .text = text, .line = 1, .at = at, .e = e };
	struct conf_node *current;
	unsigned depth = 0;
	int err = 0;

	current = *root = arena_alloc(arena, sizeof(**root));
	if (!current)
		return error_nomem(e);
	while (!err && r.pos < text.n) {
		if (end_of_line(&r))
			continue;
		if (peek(&r, 0) != '<') {
			err = read_statement(&r, current);
		} else if (peek(&r, 1) == '/') {
			err = close_block(&r, &current);
			depth -= !err;
		} else if (++depth == CONF_DEPTH_MAX) {
			err = syntax_error(&r, current_pos(&r),
					   "blocks are nested deeper than %d levels",
					   CONF_DEPTH_MAX);
		} else {
			err = open_block(&r, &current);
		}
	}
	if (!err && current->parent)
		err = syntax_error(&r, current->at, "the block <%.*s> is not closed",
				   (int)min_of(current->key.n, (size_t)60), current->key.s);
	return err;
}
