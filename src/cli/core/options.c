/*
 * The option parser. It walks argv once; every element is one of
 *
 *	--            the rest are arguments, not options
 *	--name        also --name=X, --name X, --no-name, and any unambiguous prefix
 *	-abc          letters; the first that takes an argument gets the rest (-oFILE) or the next element
 *	argument      moved to the front; with stop_at_non_option the first one ends the options
 *
 * Arguments are moved to the front of argv, so the caller finds them in order and NULL-terminated.
 * An optional value has to be attached (-rX, --name=X), because the next element might be an argument.
 */
#include "cli/core/options.h"

#include <errno.h>
#include <stdio.h>

#include "base/error.h"
#include "base/num.h"

#define NAME_MAX_LEN 64

struct option_parser {
	const struct command *cmd;
	void *opts;
	int argc, at;			/* at: index of the current element */
	char **argv;
	struct option_use *use;
	struct tacho_error *e;
	const struct option_row *noted;	/* the last option whose note was printed */
};

static bool has_opposite(const struct option_row *row)
{
	return row->name && !row->arg &&
	       (row->kind == OPT_FLAG || row->kind == OPT_COUNT || row->kind == OPT_NOTED);
}

size_t option_opposite(const struct option_row *row, char *out, size_t size)
{
	int n;

	if (!has_opposite(row))
		return 0;
	if (row->flags & OPTF_NEGATED)
		n = snprintf(out, size, "%s", row->name + (str_starts(str_of(row->name), "no-") ? 3 : 0));
	else
		n = snprintf(out, size, "no-%s", row->name);
	return n > 0 && (size_t)n < size ? (size_t)n : 0;
}

static void *field(const struct option_parser *p, const struct option_row *row)
{
	return (char *)p->opts + row->offset;
}

static int refuse_range(const struct option_parser *p, const struct option_row *row, const char *arg)
{
	if (row->max)
		return error_set(p->e, -EINVAL, "option '%s' takes a number from %lld to %lld, not '%s'",
				 p->use->option, (long long)row->min, (long long)row->max, arg);
	if (row->min)
		return error_set(p->e, -EINVAL, "option '%s' takes a number of at least %lld, not '%s'",
				 p->use->option, (long long)row->min, arg);
	return error_set(p->e, -EINVAL, "option '%s': the number '%s' is out of range",
			 p->use->option, arg);
}

static bool in_range(const struct option_row *row, double v)
{
	if (!row->min && !row->max)
		return true;
	return v >= (double)row->min && (!row->max || v <= (double)row->max);
}

static int refuse_number(const struct option_parser *p, const char *expected, const char *arg)
{
	return error_set(p->e, -EINVAL, "option '%s' takes %s, not '%s'", p->use->option, expected, arg);
}

static int store_integer(const struct option_parser *p, const struct option_row *row, const char *arg)
{
	bool is_signed = row->kind == OPT_INT;
	uint64_t u = 0;
	int64_t i = 0;
	int err = is_signed ? num_i64(str_of(arg), &i) : num_u64(str_of(arg), &u);

	if (err == -EINVAL)
		return refuse_number(p, "a number", arg);
	if (!err && row->kind == OPT_UINT && u > UINT32_MAX)
		err = -ERANGE;
	if (!err && is_signed && (i > INT32_MAX || i < INT32_MIN))
		err = -ERANGE;
	if (err || !in_range(row, is_signed ? (double)i : (double)u))
		return refuse_range(p, row, arg);
	if (is_signed)
		*(int32_t *)field(p, row) = (int32_t)i;
	else if (row->kind == OPT_UINT)
		*(uint32_t *)field(p, row) = (uint32_t)u;
	else
		*(uint64_t *)field(p, row) = u;
	return 0;
}

static int store_double(const struct option_parser *p, const struct option_row *row, const char *arg)
{
	double v;
	int err = num_double(str_of(arg), &v);

	if (err == -EINVAL)
		return refuse_number(p, "a number", arg);
	if (err || !in_range(row, v))
		return refuse_range(p, row, arg);
	*(double *)field(p, row) = v;
	return 0;
}

static int store_msec(const struct option_parser *p, const struct option_row *row, const char *arg)
{
	uint64_t ns, ms;
	int err = num_u64(str_of(arg), &ms);

	if (err == -EINVAL) {
		err = num_duration_ns(str_of(arg), &ns);
		ms = err ? 0 : ns / 1000000;
		if (!err && ns % 1000000)
			return refuse_number(p, "whole milliseconds", arg);
	}
	if (err == -EINVAL) {
		refuse_number(p, "a time", arg);
		error_hint(p->e, "write milliseconds, or a unit: 100, 100ms, 1.5s");
		return -EINVAL;
	}
	if (err || ms > UINT32_MAX || !in_range(row, (double)ms))
		return refuse_range(p, row, arg);
	*(uint32_t *)field(p, row) = (uint32_t)ms;
	return 0;
}

static int store_call(const struct option_parser *p, const struct option_row *row, const char *arg)
{
	int err = row->call(p->opts, arg, p->e);

	return err < 0 ? err : 0;
}

/* Prints the note of an option that changes nothing, once if the option is repeated. */
static int print_note(struct option_parser *p, const struct option_row *row)
{
	if (p->noted != row)
		message_text(*p->cmd->name ? p->cmd->name : NULL, "option '%s' changes nothing here: %s", p->use->option, row->help);
	p->noted = row;
	return 0;
}

static void mark_used(const struct option_parser *p, const struct option_row *row)
{
	size_t at = (size_t)(row - p->cmd->rows);

	if (at < 64 * countof(p->use->used))
		p->use->used[at / 64] |= 1ull << at % 64;
}

static void forget_option(struct option_use *use)
{
	use->option[0] = '\0';
	use->arg = NULL;
}

/* Stores an option's value in the options struct. `arg` is NULL if no argument was given. */
static int store(struct option_parser *p, const struct option_row *row, const char *arg)
{
	mark_used(p, row);
	p->use->arg = arg;
	if (!arg)
		arg = row->value;
	switch (row->kind) {
	case OPT_FLAG:
		if (row->value)
			*(const char **)field(p, row) = arg;
		else
			*(bool *)field(p, row) = true;
		return 0;
	case OPT_COUNT:
		++*(unsigned *)field(p, row);
		return 0;
	case OPT_LIST:
		if (strlist_add(field(p, row), str_of(arg ? arg : "")))
			return error_nomem(p->e);
		return 0;
	case OPT_STR:
		*(const char **)field(p, row) = arg ? arg : "";
		return 0;
	case OPT_UINT:
	case OPT_INT:
	case OPT_U64:
		return arg ? store_integer(p, row, arg) : 0;
	case OPT_DOUBLE:
		return arg ? store_double(p, row, arg) : 0;
	case OPT_MSEC:
		return arg ? store_msec(p, row, arg) : 0;
	case OPT_CALL:
		return store_call(p, row, arg);
	case OPT_REFUSED:
		error_set(p->e, -EINVAL, "perf's option '%s' is not supported", p->use->option);
		error_hint(p->e, "%s", row->help);
		return -EINVAL;
	case OPT_NOTED:
		return print_note(p, row);
	case OPT_END:
	case OPT_GROUP:
		break;
	}
	return -EINVAL;
}

static int clear(struct option_parser *p, const struct option_row *row)
{
	mark_used(p, row);
	if (row->kind == OPT_NOTED)
		return print_note(p, row);
	if (row->kind == OPT_COUNT)
		*(unsigned *)field(p, row) = 0;
	else if (row->value)
		*(const char **)field(p, row) = NULL;
	else
		*(bool *)field(p, row) = false;
	return 0;
}

static int lacks_argument(const char *option, const char *arg, struct tacho_error *e)
{
	if (program_is_perf())
		return error_set(e, -EINVAL, "Error: switch '%s' requires a value", option);
	return error_set(e, -EINVAL, "option '%s' needs its argument %s", option, arg);
}

/* Stores an option. If it needs an argument and none is attached, uses the next element of argv. */
static int store_option(struct option_parser *p, const struct option_row *row, const char *attached)
{
	bool follows = p->at + 1 < p->argc && p->argv[p->at + 1][0] != '-';

	if (!attached && (row->flags & OPTF_NEXT_ARG) && follows)
		attached = p->argv[++p->at];
	if (attached || !row->arg || (row->flags & OPTF_OPTIONAL))
		return store(p, row, attached);
	if (p->at + 1 >= p->argc)
		return lacks_argument(p->use->option, row->arg, p->e);
	return store(p, row, p->argv[++p->at]);
}

/* The options that a possibly abbreviated long name matches. */
struct option_match {
	const struct option_row *row;	/* NULL with n > 0: --help */
	bool opposite, exact;
	unsigned n;
	char names[NAME_MAX_LEN * 4];	/* names of the matches, for the error message about ambiguity */
};

static void match_try(struct option_match *m, const struct option_row *row, bool opposite, struct str typed,
		      struct str name)
{
	size_t used = strlen(m->names);
	bool exact = typed.n == name.n;

	/* A row of the name comes before the opposite of another row: no-big-num before that of big-num. */
	if (m->exact && !(exact && m->opposite && !opposite))
		return;
	if (typed.n > name.n || memcmp(typed.s, name.s, typed.n) != 0)
		return;
	m->exact = exact;
	if (!m->exact && row && (row->flags & OPTF_HIDDEN))
		return;
	/* The first match wins unless a later one is exact. */
	if (m->exact || !m->n) {
		m->row = row;
		m->opposite = opposite;
	}
	m->n = m->exact ? 1 : m->n + 1;
	snprintf(m->names + used, sizeof(m->names) - used, "%s--%.*s", used ? ", " : "", STR(name));
}

static void match_all(const struct command *cmd, struct str typed, struct option_match *m)
{
	char other[NAME_MAX_LEN];

	for (const struct option_row *row = cmd->rows; row && row->kind != OPT_END; row++) {
		size_t n = option_opposite(row, other, sizeof(other));

		if (row->kind != OPT_GROUP && row->name)
			match_try(m, row, false, typed, str_of(row->name));
		/* Skip "no-" and its prefixes, which would match every flag. */
		if (n && (typed.n > 3 || (row->flags & OPTF_NEGATED)))
			match_try(m, row, true, typed, str_n(other, n));
	}
	match_try(m, NULL, false, typed, STR_LIT("help"));
}

static void hint_help(const struct option_parser *p)
{
	error_hint(p->e, "'%s%s%s -h' shows the options", program_name, *p->cmd->name ? " " : "",
		   p->cmd->name);
}

static int unknown_long(const struct option_parser *p, struct str typed)
{
	struct str_nearest near = { .word = typed };
	char other[NAME_MAX_LEN], best[NAME_MAX_LEN] = "";

	for (const struct option_row *row = p->cmd->rows; row && row->kind != OPT_END; row++) {
		size_t n = option_opposite(row, other, sizeof(other));

		if (!option_is_shown(row) || !row->name)
			continue;
		str_nearest_try(&near, str_of(row->name));
		if (n)
			str_nearest_try(&near, str_n(other, n));
		if (near.best.s == other) {	/* `other` is reused for the next row */
			memcpy(best, other, n + 1);
			near.best.s = best;
		}
	}
	error_set(p->e, -EINVAL, "unknown option '--%.*s'", STR(typed));
	if (near.best.n)
		error_hint(p->e, "did you mean '--%.*s'?", STR(near.best));
	else
		hint_help(p);
	return -EINVAL;
}

static int parse_long(struct option_parser *p, const char *text)
{
	ptrdiff_t eq = str_find(str_of(text), '=');
	struct str typed = eq < 0 ? str_of(text) : str_n(text, (size_t)eq);
	const char *attached = eq < 0 ? NULL : text + eq + 1;
	struct option_match m = { 0 };

	match_all(p->cmd, typed, &m);
	if (!m.n)
		return unknown_long(p, typed);
	if (m.n > 1) {
		error_set(p->e, -EINVAL, "option '--%.*s' is ambiguous", STR(typed));
		error_hint(p->e, "it could be %s", m.names);
		return -EINVAL;
	}
	if (!m.row)
		return 1;
	if (m.opposite)
		option_opposite(m.row, p->use->option + 2, sizeof(p->use->option) - 2);
	else
		snprintf(p->use->option + 2, sizeof(p->use->option) - 2, "%s", m.row->name);
	memcpy(p->use->option, "--", 2);
	if (attached && (m.opposite || !m.row->arg) && m.row->kind != OPT_REFUSED)
		return error_set(p->e, -EINVAL, "option '%s' takes no argument, but has '%s'",
				 p->use->option, attached);
	return m.opposite ? clear(p, m.row) : store_option(p, m.row, attached);
}

static const struct option_row *find_letter(const struct command *cmd, char letter)
{
	for (const struct option_row *row = cmd->rows; row && row->kind != OPT_END; row++)
		if (row->kind != OPT_GROUP && row->letter == letter)
			return row;
	return NULL;
}

static int unknown_letter(const struct option_parser *p, const char *bundle, char letter)
{
	if (bundle[1])
		error_set(p->e, -EINVAL, "unknown option '-%c' in '-%s'", letter, bundle);
	else
		error_set(p->e, -EINVAL, "unknown option '-%c'", letter);
	hint_help(p);
	return -EINVAL;
}

/* Whether a long option was written with one dash: "-event" would silently mean -e vent. */
static bool lacks_a_dash(const struct option_parser *p, const char *bundle)
{
	struct option_match m = { 0 };

	if (strlen(bundle) < 3)
		return false;
	match_all(p->cmd, str_of(bundle), &m);
	return m.exact;
}

static int parse_letters(struct option_parser *p, const char *bundle)
{
	if (lacks_a_dash(p, bundle)) {
		error_set(p->e, -EINVAL, "unknown option '-%s'", bundle);
		error_hint(p->e, "did you mean '--%s', with two dashes?", bundle);
		return -EINVAL;
	}
	for (const char *c = bundle; *c; c++) {
		const struct option_row *row = find_letter(p->cmd, *c);
		int err;

		if (!row && *c == 'h')
			return 1;
		if (!row)
			return unknown_letter(p, bundle, *c);
		snprintf(p->use->option, sizeof(p->use->option), "-%c", *c);
		err = store_option(p, row, row->arg && c[1] ? c + 1 : NULL);
		if (err || row->arg)
			return err;
	}
	return 0;
}

/* Appends the rest of argv to the arguments found so far. */
static int keep_rest(struct option_parser *p, int n_args, int from)
{
	for (int i = from; i < p->argc; i++)
		p->argv[1 + n_args++] = p->argv[i];
	return n_args;
}

int options_parse_at(const struct command *cmd, void *opts, int *argc, char ***argv,
		     struct option_use *use, struct tacho_error *e)
{
	struct option_parser p = { .cmd = cmd, .opts = opts, .argc = *argc, .argv = *argv, .use = use, .e = e };
	int n_args = 0, err = 0;

	*use = (struct option_use){ 0 };
	for (p.at = 1; p.at < p.argc; p.at++) {
		char *text = p.argv[p.at];

		forget_option(use);
		if (text[0] != '-' || !text[1]) {
			if (cmd->stops_at_non_option)
				break;
			p.argv[1 + n_args++] = text;
			continue;
		}
		if (text[1] == '-' && !text[2]) {
			p.at += !cmd->keeps_double_dash;
			break;
		}
		err = text[1] == '-' ? parse_long(&p, text + 2) : parse_letters(&p, text + 1);
		if (err)
			return err;
	}
	forget_option(use);
	n_args = keep_rest(&p, n_args, p.at);
	if (p.argc > 0)
		p.argv[1 + n_args] = NULL;
	*argv = p.argv + (p.argc > 0);
	*argc = n_args;
	return 0;
}

int options_parse(const struct command *cmd, void *opts, int *argc, char ***argv,
		  struct tacho_error *e)
{
	struct option_use use;

	return options_parse_at(cmd, opts, argc, argv, &use, e);
}

bool option_was_used(const struct command *cmd, const struct option_use *use, const char *name)
{
	size_t at = 0;

	for (const struct option_row *row = cmd->rows; row && row->kind != OPT_END; row++, at++) {
		bool named = row->name && !strcmp(row->name, name);

		if (row->kind == OPT_GROUP || at >= 64 * countof(use->used))
			continue;
		if (!named && !(name[0] == row->letter && !name[1]))
			continue;
		if (use->used[at / 64] >> at % 64 & 1)
			return true;
	}
	return false;
}

int options_apply(const struct command *cmd, void *opts, const char *name, const char *value,
		  struct tacho_error *e)
{
	struct option_match m = { 0 };
	struct option_use use = { 0 };
	struct option_parser p = { .cmd = cmd, .opts = opts, .use = &use, .e = e };

	match_all(cmd, str_of(name), &m);
	if (!m.exact || !m.row)
		return error_set(e, -EINVAL, "there is no option '--%s'", name);
	snprintf(use.option, sizeof(use.option), "--%s", name);
	if (m.opposite)
		return clear(&p, m.row);
	if (!value && m.row->arg && !(m.row->flags & OPTF_OPTIONAL))
		return lacks_argument(use.option, m.row->arg, e);
	return store(&p, m.row, value);
}

const char *command_word(const struct command *cmd)
{
	const char *blank = strrchr(cmd->name, ' ');

	return blank ? blank + 1 : cmd->name;
}

const struct command *command_verb(const struct command *cmd, const char *word)
{
	for (const struct command *const *verb = cmd->verbs; verb && *verb; verb++)
		if (!strcmp(word, command_word(*verb)))
			return *verb;
	return NULL;
}

static size_t count_rows(const struct command *cmd)
{
	size_t n = 0;

	for (const struct option_row *row = cmd->rows; row && row->kind != OPT_END; row++)
		n++;
	for (const struct command *const *verb = cmd->verbs; verb && *verb; verb++)
		n += count_rows(*verb);
	return n;
}

static bool is_same_option(const struct option_row *a, const struct option_row *b)
{
	return a->letter == b->letter && !a->name == !b->name && (!a->name || !strcmp(a->name, b->name));
}

/* Adds the rows that are supported, or those that are not, to the list that ends with OPT_END. */
static void merge_rows(const struct command *cmd, bool supported, struct option_row *list)
{
	for (const struct option_row *row = cmd->rows; row && row->kind != OPT_END; row++) {
		struct option_row *at = list;

		if (row->kind == OPT_GROUP || (row->kind != OPT_REFUSED && row->kind != OPT_NOTED) != supported)
			continue;
		while (at->kind != OPT_END && !is_same_option(at, row))
			at++;
		if (at->kind == OPT_END)
			*at = *row;
	}
	for (const struct command *const *verb = cmd->verbs; verb && *verb; verb++)
		merge_rows(*verb, supported, list);
}

struct option_row *options_with_verbs(const struct command *cmd)
{
	struct option_row *list = calloc(count_rows(cmd) + 1, sizeof(*list));

	if (list) {
		merge_rows(cmd, true, list);
		merge_rows(cmd, false, list);
	}
	return list;
}

static void free_lists(const struct command *cmd, void *opts)
{
	for (const struct option_row *row = cmd->rows; row && row->kind != OPT_END; row++)
		if (row->kind == OPT_LIST)
			strlist_done((struct strlist *)((char *)opts + row->offset));
	for (const struct command *const *verb = cmd->verbs; verb && *verb; verb++)
		free_lists(*verb, opts);
}

void options_done(const struct command *cmd, void *opts)
{
	if (!opts)
		return;
	if (cmd->done)
		cmd->done(opts);
	free_lists(cmd, opts);
}
