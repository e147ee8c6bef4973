/*
 * The structure of TOML: lines, dotted keys, headers, arrays and inline tables.
 *
 * TOML restricts which tables may be extended later, so each table records how it was defined:
 *
 *	by_header	by its own header [a.b]; a second such header is an error
 *	(no flag)	implicitly: [a.b.c] created `a` and `b`; they may still get a header
 *	by_dots		`a.b = 1` created `a`; more dotted keys may follow, a header may only pass through
 *	closed		an inline table { ... } is complete; nothing may be added
 *	of_tables	(an array) created by [[a]]; headers below it refer to its last table
 */
#include "base/toml_scan.h"

#include <errno.h>
#include <stdio.h>

#include "base/error.h"

enum { INDEX_FROM = 12 };	/* number of keys from which on a table has an index */

/* Counts on from the position of the previous call, because a line may have a million values. */
struct toml_at toml_here(struct toml_reader *r)
{
	if (r->counted < r->line_start || r->counted > r->pos) {
		r->counted = r->line_start;
		r->column = 1;
	}
	for (; r->counted < r->pos; r->counted++)
		r->column += ((unsigned char)r->text.s[r->counted] & 0xc0) != 0x80;
	return (struct toml_at){ .line = r->line, .column = r->column };
}

int toml_fail(struct toml_reader *r, struct toml_at at, const char *fmt, ...)
{
	char text[256];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	r->doc->at = at;
	error_set(r->e, -EINVAL, "%s", text);
	return -EINVAL;
}

static struct toml_value *new_value(struct toml_reader *r, enum toml_kind kind)
{
	struct toml_value *v = arena_alloc(&r->doc->arena, sizeof(*v));

	if (!v) {
		error_nomem(r->e);
		return NULL;
	}
	v->kind = kind;
	return v;
}

static struct toml_value *find(const struct toml_value *table, struct str key)
{
	const uint64_t *hit;

	if (table->index.n) {
		hit = map_get(&table->index, key);
		return hit ? (struct toml_value *)(uintptr_t)*hit : NULL;
	}
	for (struct toml_value *v = table->first; v; v = v->next)
		if (str_eq(v->key, key))
			return v;
	return NULL;
}

static int index_add(struct toml_reader *r, struct toml_value *table, struct toml_value *v)
{
	struct toml_value *from = v;

	if (table->n < INDEX_FROM)
		return 0;
	if (table->n == INDEX_FROM) {
		from = table->first;
		table->next_table = r->doc->tables;
		r->doc->tables = table;
	}
	for (; from; from = from->next)
		if (map_put(&table->index, from->key, (uint64_t)(uintptr_t)from))
			return error_nomem(r->e);
	return 0;
}

static int append(struct toml_reader *r, struct toml_value *to, struct toml_value *v)
{
	if (to->last)
		to->last->next = v;
	else
		to->first = v;
	to->last = v;
	to->n++;
	return to->kind == TOML_TABLE ? index_add(r, to, v) : 0;
}

static void skip_blanks(struct toml_reader *r)
{
	while (toml_peek(r, 0) == ' ' || toml_peek(r, 0) == '\t')
		r->pos++;
}

static int skip_comment(struct toml_reader *r)
{
	if (toml_peek(r, 0) != '#')
		return 0;
	for (; r->pos < r->text.n && toml_peek(r, 0) != '\n'; r->pos++) {
		int c = toml_peek(r, 0);

		if (c == '\r' && toml_peek(r, 1) == '\n')
			return 0;
		if ((c < 0x20 && c != '\t') || c == 0x7f)
			return toml_fail(r, toml_here(r), "a control character (0x%02x) in a comment", c);
	}
	return 0;
}

static int end_of_line(struct toml_reader *r, const char *after)
{
	int err;

	skip_blanks(r);
	err = skip_comment(r);
	if (err || r->pos == r->text.n || toml_newline(r))
		return err;
	return toml_fail(r, toml_here(r), "nothing may follow %s on its line", after);
}

/* Skips blanks, comments and newlines, as allowed between the values of an array. */
static int skip_blank_lines(struct toml_reader *r)
{
	int err;

	do {
		skip_blanks(r);
		err = skip_comment(r);
	} while (!err && toml_newline(r));
	return err;
}

static bool is_bare(int c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       c == '_' || c == '-';
}

static int read_key(struct toml_reader *r, struct str *out, struct toml_at *at)
{
	size_t from = r->pos;
	int c = toml_peek(r, 0);
	char *copy;

	*at = toml_here(r);
	if (c == '"' || c == '\'')
		return toml_string(r, true, out);
	while (is_bare(toml_peek(r, 0)))
		r->pos++;
	if (r->pos == from && (c < 0 || c == '\n' || c == '\r'))
		return toml_fail(r, *at, "expected a key");
	if (r->pos == from)
		return toml_fail(r, *at, "an unquoted key may only have letters, digits, '_' and '-'");
	copy = arena_str(&r->doc->arena, str_n(r->text.s + from, r->pos - from));
	if (!copy)
		return error_nomem(r->e);
	*out = str_n(copy, r->pos - from);
	return 0;
}

/* Skips the dot between two parts of a key; false: the key ends here. */
static bool skip_dot(struct toml_reader *r)
{
	size_t before = r->pos;

	skip_blanks(r);
	if (toml_peek(r, 0) != '.') {
		r->pos = before;
		return false;
	}
	r->pos++;
	skip_blanks(r);
	return true;
}

static int fail_defined_before(struct toml_reader *r, struct toml_at at, const struct toml_value *v)
{
	return toml_fail(r, at, "'%.*s' is already defined in line %d", (int)min_of(v->key.n, (size_t)60),
			 v->key.s, v->key_at.line);
}

/* Replaces *in by its table `key`, which is created if it does not exist. */
static int enter_table(struct toml_reader *r, struct toml_value **in, struct str key, struct toml_at at,
		 bool by_dots)
{
	struct toml_value *v = find(*in, key);

	if (v && v->kind == TOML_ARRAY && v->of_tables && !by_dots)
		v = v->last;
	else if (v && (v->kind != TOML_TABLE || v->closed || (by_dots && !v->by_dots)))
		return fail_defined_before(r, at, v);
	if (v) {
		*in = v;
		return 0;
	}
	v = new_value(r, TOML_TABLE);
	if (!v)
		return -ENOMEM;
	v->key = key;
	v->at = v->key_at = at;
	v->by_dots = by_dots;
	if (append(r, *in, v))
		return -ENOMEM;
	*in = v;
	return 0;
}

/* Reads a.b.c: *table becomes the table `a.b`, *key the last part. */
static int read_path(struct toml_reader *r, struct toml_value **table, struct str *key,
		     struct toml_at *at, bool by_dots)
{
	unsigned parts = 1;
	int err = read_key(r, key, at);

	while (!err && skip_dot(r)) {
		if (++parts > TOML_DEPTH_MAX)
			return toml_fail(r, *at, "a key with more than %d parts", TOML_DEPTH_MAX);
		err = enter_table(r, table, *key, *at, by_dots);
		if (!err)
			err = read_key(r, key, at);
	}
	return err;
}

static int read_value(struct toml_reader *r, struct toml_value **out);

static int read_pair(struct toml_reader *r, struct toml_value *table)
{
	struct toml_value *v = NULL, *before;
	struct toml_at at = { 0 };
	struct str key = { 0 };
	int err = read_path(r, &table, &key, &at, true);

	if (err)
		return err;
	before = find(table, key);
	if (before)
		return fail_defined_before(r, at, before);
	skip_blanks(r);
	if (toml_peek(r, 0) != '=')
		return toml_fail(r, toml_here(r), "expected '=' after the key '%.*s'",
				 (int)min_of(key.n, (size_t)60), key.s);
	r->pos++;
	skip_blanks(r);
	err = read_value(r, &v);
	if (err)
		return err;
	v->key = key;
	v->key_at = at;
	return append(r, table, v);
}

static int read_array(struct toml_reader *r, struct toml_value *array)
{
	struct toml_at begin = toml_here(r);
	struct toml_value *v = NULL;
	int err;

	array->kind = TOML_ARRAY;
	r->pos++;
	for (;;) {
		err = skip_blank_lines(r);
		if (err)
			return err;
		if (toml_peek(r, 0) == ']')
			break;
		if (toml_peek(r, 0) < 0)
			return toml_fail(r, begin, "this array has no closing ']'");
		err = read_value(r, &v);
		if (!err)
			err = append(r, array, v);
		if (!err)
			err = skip_blank_lines(r);
		if (err)
			return err;
		if (toml_peek(r, 0) == ',')
			r->pos++;
		else if (toml_peek(r, 0) != ']')
			return toml_fail(r, toml_here(r), "expected ',' or ']' in the array");
	}
	r->pos++;
	return 0;
}

static int read_inline(struct toml_reader *r, struct toml_value *table)
{
	int err;

	table->kind = TOML_TABLE;
	table->closed = true;
	r->pos++;
	skip_blanks(r);
	if (toml_peek(r, 0) == '}') {
		r->pos++;
		return 0;
	}
	for (;;) {
		skip_blanks(r);
		err = read_pair(r, table);
		if (err)
			return err;
		skip_blanks(r);
		if (toml_peek(r, 0) == '}')
			break;
		if (toml_peek(r, 0) != ',')
			return toml_fail(r, toml_here(r), "expected ',' or '}' on this line");
		r->pos++;
	}
	r->pos++;
	return 0;
}

static int read_value(struct toml_reader *r, struct toml_value **out)
{
	struct toml_value *v = new_value(r, TOML_STRING);
	int c = toml_peek(r, 0), err;

	if (!v)
		return -ENOMEM;
	*out = v;
	v->at = toml_here(r);
	if (++r->depth > TOML_DEPTH_MAX)
		return toml_fail(r, v->at, "values are nested deeper than %d levels", TOML_DEPTH_MAX);
	if (c == '"' || c == '\'')
		err = toml_string(r, false, &v->text);
	else if (c == '[')
		err = read_array(r, v);
	else if (c == '{')
		err = read_inline(r, v);
	else
		err = toml_scalar(r, v);
	r->depth--;
	return err;
}

/* Opens the table that [a.b] or [[a.b]] names; *in is the table of the parts before the last one. */
static int open_table(struct toml_reader *r, struct toml_value **in, struct str key,
		      struct toml_at at, bool array)
{
	struct toml_value *v = find(*in, key), *table;

	if (v && (array ? !v->of_tables : v->kind != TOML_TABLE || v->by_header || v->by_dots || v->closed))
		return fail_defined_before(r, at, v);
	if (v && !array) {
		v->by_header = true;
		v->key_at = v->at = at;
		*in = v;
		return 0;
	}
	table = new_value(r, TOML_TABLE);
	if (!table)
		return -ENOMEM;
	table->at = table->key_at = at;
	table->by_header = true;
	table->key = array ? (struct str){ "", 0 } : key;
	if (array && !v) {
		v = new_value(r, TOML_ARRAY);
		if (!v)
			return -ENOMEM;
		v->key = key;
		v->at = v->key_at = at;
		v->of_tables = true;
		if (append(r, *in, v))
			return -ENOMEM;
	}
	if (append(r, array ? v : *in, table))
		return -ENOMEM;
	*in = table;
	return 0;
}

static int read_header(struct toml_reader *r, struct toml_value **current)
{
	struct toml_value *table = r->doc->root;
	struct toml_at at = { 0 };
	struct str key = { 0 };
	bool array = toml_peek(r, 1) == '[';
	int err;

	r->pos += array ? 2 : 1;
	skip_blanks(r);
	err = read_path(r, &table, &key, &at, false);
	if (err)
		return err;
	skip_blanks(r);
	if (toml_peek(r, 0) != ']' || (array && toml_peek(r, 1) != ']'))
		return toml_fail(r, toml_here(r), "expected '%s'", array ? "]]" : "]");
	r->pos += array ? 2 : 1;
	err = open_table(r, &table, key, at, array);
	if (err)
		return err;
	*current = table;
	return end_of_line(r, "a header");
}

static int read_document(struct toml_reader *r)
{
	struct toml_value *current = r->doc->root;
	int err = 0;

	while (!err) {
		err = skip_blank_lines(r);
		if (err || r->pos == r->text.n)
			break;
		if (toml_peek(r, 0) == '[') {
			err = read_header(r, &current);
		} else {
			err = read_pair(r, current);
			if (!err)
				err = end_of_line(r, "a value");
		}
	}
	return err;
}

/* The whole text must be UTF-8, including comments. */
static int check_text(struct toml_reader *r)
{
	if (r->text.n > TOML_TEXT_MAX)
		return error_set(r->e, -EFBIG, "the text is larger than %u MiB", TOML_TEXT_MAX >> 20);
	while (r->pos < r->text.n) {
		size_t n = str_utf8_len(str_n(r->text.s + r->pos, r->text.n - r->pos));

		if (!n)
			return toml_fail(r, toml_here(r), "the byte 0x%02x is not valid UTF-8", toml_peek(r, 0));
		if (r->text.s[r->pos] == '\n') {
			r->line++;
			r->line_start = r->pos + 1;
		}
		r->pos += n;
	}
	r->pos = r->line_start = str_starts(r->text, "\xef\xbb\xbf") ? 3 : 0;
	r->line = r->column = 1;
	r->counted = r->pos;
	return 0;
}

static int parse(struct toml *doc, struct str text, bool value_only, struct tacho_error *e)
{
	struct toml_reader r = { .doc = doc, .text = text, .line = 1, .column = 1, .e = e };
	int err;

	*doc = (struct toml){ .at = { 1, 1 } };
	err = check_text(&r);
	if (!err && value_only) {
		skip_blanks(&r);
		err = read_value(&r, &doc->root);
		if (!err)
			err = end_of_line(&r, "the value");
	} else if (!err) {
		doc->root = new_value(&r, TOML_TABLE);
		if (doc->root)
			doc->root->at = doc->at;
		err = doc->root ? read_document(&r) : -ENOMEM;
	}
	buf_done(&r.word);
	if (err) {
		struct toml_at at = doc->at;

		toml_done(doc);
		doc->at = at;
	}
	return err;
}

int toml_parse(struct toml *doc, struct str text, struct tacho_error *e)
{
	return parse(doc, text, false, e);
}

int toml_parse_value(struct toml *doc, struct str text, struct tacho_error *e)
{
	return parse(doc, text, true, e);
}

void toml_done(struct toml *doc)
{
	for (struct toml_value *t = doc->tables; t; t = t->next_table)
		map_done(&t->index);
	arena_done(&doc->arena);
	*doc = (struct toml){ 0 };
}

const struct toml_value *toml_get(const struct toml_value *table, struct str key)
{
	return table->kind == TOML_TABLE ? find(table, key) : NULL;
}

const char *toml_kind_name(enum toml_kind kind)
{
	static const char *const names[] = {
		[TOML_STRING] = "a string", [TOML_INTEGER] = "an integer", [TOML_FLOAT] = "a float",
		[TOML_BOOL] = "a boolean", [TOML_DATETIME] = "a date and time",
		[TOML_LOCAL_DATETIME] = "a date and time", [TOML_DATE] = "a date",
		[TOML_TIME] = "a time", [TOML_ARRAY] = "an array", [TOML_TABLE] = "a table",
	};

	return names[kind];
}
