/*
 * The language of tracepoint filters:
 *
 *	prev_pid > 10 && (prev_comm ~ "tar*" || !(prev_prio & 0x40))
 *
 * Comparisons of a field with a constant, joined by && and ||, with ! and parentheses. Numbers have == != < <= > >= &,
 * strings == != ~. Besides the fields of the format there are those that every event has.
 */
#include "event/tracepoint_filter.h"

#include <ctype.h>
#include <errno.h>

#include "base/defs.h"
#include "base/error.h"
#include "base/num.h"

#define MAX_DEPTH 100

struct filter_parser {
	struct str text, format;
	size_t at;
	const char *event;
	struct tacho_error *e;
	unsigned depth;
};

enum filter_field { FILTER_NO_FIELD, FILTER_NUMBER, FILTER_STRING, FILTER_ANY };

static int refuse(struct filter_parser *p, size_t at, size_t n, const char *why)
{
	error_set(p->e, -EINVAL, "the filter of %s is not valid: %s", p->event, why);
	error_at(p->e, min_of(at, p->text.n), n);
	return -EINVAL;
}

static void skip_blanks(struct filter_parser *p)
{
	while (p->at < p->text.n && isspace((unsigned char)p->text.s[p->at]))
		p->at++;
}

static bool take_mark(struct filter_parser *p, const char *mark)
{
	skip_blanks(p);
	if (!str_starts(str_n(p->text.s + p->at, p->text.n - p->at), mark))
		return false;
	p->at += strlen(mark);
	return true;
}

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '.';
}

static struct str take_word(struct filter_parser *p)
{
	size_t from;

	skip_blanks(p);
	from = p->at;
	while (p->at < p->text.n && is_word(p->text.s[p->at]))
		p->at++;
	return str_n(p->text.s + from, p->at - from);
}

/* The declaration of "field:char prev_comm[16];" without its type: the name, and whether it is a string. */
static struct str declared(struct str line, bool *is_string)
{
	struct str decl, name;
	size_t n;

	str_cut(&line, ';', &decl);
	*is_string = false;
	for (n = decl.n; n && decl.s[n - 1] == ']'; n -= n > 0)
		while (n && decl.s[n - 1] != '[')
			n--;
	name = str_n(decl.s, n);
	while (n && is_word(decl.s[n - 1]))
		n--;
	name = str_n(decl.s + n, name.n - n);
	if (decl.n > n + name.n || str_starts(decl, "field:__data_loc") || str_starts(decl, "field:__rel_loc"))
		*is_string = memmem(decl.s, decl.n, "char", 4) != NULL;
	else if (memchr(decl.s, '*', n) == memrchr(decl.s, '*', n) && memchr(decl.s, '*', n))
		*is_string = memmem(decl.s, n, "char", 4) != NULL;	/* char *, but not char ** */
	return name;
}

static enum filter_field find_field(const struct filter_parser *p, struct str name, struct str_nearest *near)
{
	static const char *const common[] = { "common_pid", "common_type", "common_flags", "common_preempt_count" };
	struct str rest = p->format, line;

	for (size_t i = 0; i < countof(common); i++)
		if (str_is(name, common[i]))
			return FILTER_NUMBER;
	if (str_is(name, "cpu") || str_is(name, "CPU"))
		return FILTER_NUMBER;
	if (str_is(name, "comm") || str_is(name, "COMM"))
		return FILTER_STRING;
	if (str_is(name, "stacktrace") || str_is(name, "STACKTRACE") || str_is(name, "CPUS"))
		return FILTER_ANY;
	while (str_cut(&rest, '\n', &line)) {
		bool is_string;
		struct str have;

		line = str_trim(line);
		if (!str_starts(line, "field:"))
			continue;
		have = declared(line, &is_string);
		if (str_eq(have, name))
			return is_string ? FILTER_STRING : FILTER_NUMBER;
		if (!str_starts(have, "common_"))
			str_nearest_try(near, have);
	}
	return FILTER_NO_FIELD;
}

static void list_fields(const struct filter_parser *p)
{
	char names[300] = "";
	struct str rest = p->format, line;
	size_t n = 0;

	while (str_cut(&rest, '\n', &line)) {
		bool is_string;
		struct str have;

		line = str_trim(line);
		if (!str_starts(line, "field:"))
			continue;
		have = declared(line, &is_string);
		if (str_starts(have, "common_") || n + have.n + 3 > sizeof(names))
			continue;
		if (n) {
			memcpy(names + n, ", ", 2);
			n += 2;
		}
		memcpy(names + n, have.s, have.n);
		n += have.n;
	}
	names[n] = '\0';
	error_hint(p->e, "its fields are %s", names);
}

static int refuse_field(struct filter_parser *p, struct str name, const struct str_nearest *near)
{
	error_set(p->e, -EINVAL, "%s has no field '%.*s' to filter by", p->event, STR(name));
	if (near->distance)
		error_hint(p->e, "did you mean '%.*s'?", STR(near->best));
	else
		list_fields(p);
	error_at(p->e, (size_t)(name.s - p->text.s), name.n);
	return -EINVAL;
}

/* A quoted string, or a word. *quoted: which. */
static int take_value(struct filter_parser *p, struct str *value, bool *quoted)
{
	const char *end;
	char quote;

	skip_blanks(p);
	quote = p->at < p->text.n ? p->text.s[p->at] : '\0';
	*quoted = quote == '"' || quote == '\'';
	if (*quoted) {
		end = memchr(p->text.s + p->at + 1, quote, p->text.n - p->at - 1);
		if (!end)
			return refuse(p, p->at, 1, "the string does not end");
		*value = str_n(p->text.s + p->at + 1, (size_t)(end - (p->text.s + p->at + 1)));
		p->at = (size_t)(end - p->text.s) + 1;
		return 0;
	}
	*value = (struct str){ p->text.s + p->at, 0 };
	if (quote == '-' || quote == '~')
		p->at++;
	take_word(p);
	value->n = (size_t)(p->text.s + p->at - value->s);
	return value->n ? 0 : refuse(p, p->at, 1, "a number or a string is missing after the operator");
}

static bool is_number(struct str text)
{
	uint64_t number;
	bool octal = text.n > 1 && text.s[0] == '0';

	if (text.n && (text.s[0] == '-' || text.s[0] == '~'))
		text = str_n(text.s + 1, text.n - 1);
	return num_u64(text, &number) == 0 || (octal && num_hex(text, &number) == 0);
}

static int check_value(struct filter_parser *p, enum filter_field kind, const char *op, size_t op_at)
{
	struct str value;
	bool quoted;
	int err = take_value(p, &value, &quoted);
	size_t at = (size_t)(value.s - p->text.s);

	if (err < 0 || kind == FILTER_ANY)
		return err;
	if (kind == FILTER_STRING && strcmp(op, "==") != 0 && strcmp(op, "!=") != 0 && strcmp(op, "~") != 0)
		return refuse(p, op_at, strlen(op), "a string is compared by ==, != or ~");
	if (kind == FILTER_NUMBER && !strcmp(op, "~"))
		return refuse(p, op_at, 1, "~ compares strings, and this field is a number");
	if (kind == FILTER_STRING && !quoted)
		return refuse(p, at, value.n, "a string needs quotes");
	if (kind == FILTER_NUMBER && (quoted || !is_number(value)))
		return refuse(p, at, value.n, "this field is a number");
	return 0;
}

static int check_comparison(struct filter_parser *p)
{
	static const char *const operators[] = { "==", "!=", "<=", ">=", "<", ">", "&", "~" };
	struct str name = take_word(p), field;
	struct str_nearest near;
	enum filter_field kind;

	if (!name.n)
		return refuse(p, p->at, 1, "the name of a field is missing");
	field = str_ends(name, ".ustring") ? str_n(name.s, name.n - 8) : str_ends(name, ".function") ? str_n(name.s, name.n - 9) : name;
	near = (struct str_nearest){ .word = field };
	kind = find_field(p, field, &near);
	if (kind == FILTER_NO_FIELD)
		return refuse_field(p, field, &near);
	if (field.n != name.n)
		kind = FILTER_ANY;
	skip_blanks(p);
	for (size_t i = 0; i < countof(operators); i++) {
		size_t at = p->at;

		if (operators[i][0] == '&' && str_starts(str_n(p->text.s + at, p->text.n - at), "&&"))
			continue;
		if (take_mark(p, operators[i])) {
			if (take_mark(p, "CPUS{")) {
				const char *end = memchr(p->text.s + p->at, '}', p->text.n - p->at);

				if (!end)
					return refuse(p, p->at, 1, "the list of CPUs does not end");
				p->at = (size_t)(end - p->text.s) + 1;
				return 0;
			}
			return check_value(p, kind, operators[i], at);
		}
	}
	return refuse(p, p->at, 1, "an operator is missing: == != < <= > >= & ~");
}

static int check_expression(struct filter_parser *p);

static int check_term(struct filter_parser *p)
{
	size_t open;
	int err;

	if (p->depth >= MAX_DEPTH)
		return refuse(p, p->at, 1, "it is nested too deeply");
	if (take_mark(p, "!")) {
		p->depth++;
		err = check_term(p);
		p->depth--;
		return err;
	}
	skip_blanks(p);
	open = p->at;
	if (!take_mark(p, "("))
		return check_comparison(p);
	p->depth++;
	err = check_expression(p);
	p->depth--;
	if (err == 0 && !take_mark(p, ")"))
		return refuse(p, open, 1, "the parenthesis is not closed");
	return err;
}

static int check_expression(struct filter_parser *p)
{
	int err;

	do {
		err = check_term(p);
	} while (err == 0 && (take_mark(p, "&&") || take_mark(p, "||")));
	return err;
}

int tracepoint_filter_check(struct str filter, struct str format, const char *event, struct tacho_error *e)
{
	struct filter_parser p = { .text = filter, .format = format, .event = event, .e = e };
	int err;

	if (filter.n > FILTER_MAX)
		return refuse(&p, FILTER_MAX, 1, "it is longer than the 4095 bytes that the kernel takes");
	err = check_expression(&p);
	skip_blanks(&p);
	if (err == 0 && p.at < filter.n)
		return refuse(&p, p.at, 1, "&& or || is missing here");
	return err;
}
