/*
 * Sets values of the configuration according to their rows. A value of the wrong kind is refused
 * with its position. Values from --set, a fallback or the environment are `loose`: their text may be
 * converted to any kind.
 */
#include "agent/config/keys.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "base/error.h"
#include "base/io.h"
#include "base/num.h"
#include "base/vec.h"

enum { SECRET_MAX = 64 << 10 };

static void *value_at(const struct config_key *row, void *into)
{
	return (char *)into + row->at;
}

int key_fail(struct tacho_error *e, const struct value_origin *from, struct toml_at at,
	     const char *fmt, ...)
{
	char text[400];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (from && from->file)
		error_set(e, -EINVAL, "%s:%d:%d: %s", from->file, at.line, at.column, text);
	else
		error_set(e, -EINVAL, "%s", text);
	return -EINVAL;
}

const struct config_key *keys_find(const struct config_key *rows, struct str name)
{
	for (const struct config_key *row = rows; row && row->kind != KEY_END; row++)
		if (str_is(name, row->name))
			return row;
	return NULL;
}

static int wrong_kind(const struct config_key *row, const struct toml_value *v,
		      const struct value_origin *from, const char *wanted, struct tacho_error *e)
{
	return key_fail(e, from, v->at, "%s is %s, but must be %s", row->name, toml_kind_name(v->kind),
			wanted);
}

int key_text(const struct config_key *row, const struct toml_value *v, const struct value_origin *from,
	     struct str *out, struct tacho_error *e)
{
	if (v->kind != TOML_STRING && !(v->untyped && v->kind < TOML_ARRAY))
		return wrong_kind(row, v, from, "a string", e);
	if (memchr(v->text.s, 0, v->text.n))
		return key_fail(e, from, v->at, "%s contains a NUL character", row->name);
	*out = v->text;
	return 0;
}

static int replace_string(char **at, struct str s, struct tacho_error *e)
{
	char *copy = str_dup(s);

	if (!copy)
		return error_nomem(e);
	free(*at);
	*at = copy;
	return 0;
}

static int set_path(const struct config_key *row, char **at, struct str s,
		    const struct value_origin *from, struct tacho_error *e)
{
	struct buf path = { 0 };
	int err;

	(void)row;
	if (s.n && s.s[0] != '/' && from && from->dir && strcmp(from->dir, "."))
		buf_printf(&path, "%s/", from->dir);
	buf_str(&path, s);
	if (buf_failed(&path))
		return error_nomem(e);
	err = replace_string(at, path.n ? buf_view(&path) : STR_LIT(""), e);
	buf_done(&path);
	return err;
}

/* Whether the URL contains user information such as "me:secret@host". */
static bool has_userinfo(struct str rest)
{
	for (size_t i = 0; i < rest.n && !strchr("/?#", rest.s[i]); i++)
		if (rest.s[i] == '@')
			return true;
	return false;
}

static int set_url(const struct config_key *row, char **at, const struct toml_value *v, struct str s,
		   const struct value_origin *from, struct tacho_error *e)
{
	size_t scheme = str_starts(s, "http://") ? 7 : str_starts(s, "https://") ? 8 : 0;

	if (!scheme || s.n == scheme)
		return key_fail(e, from, v->at, "%s must begin with http:// or https://", row->name);
	for (size_t i = 0; i < s.n; i++)
		if ((unsigned char)s.s[i] <= ' ' || s.s[i] == 0x7f)
			return key_fail(e, from, v->at, "%s contains a blank or control character",
					row->name);
	if (has_userinfo(str_n(s.s + scheme, s.n - scheme))) {
		key_fail(e, from, v->at, "%s contains a user name, which would be shown with the URL",
			 row->name);
		error_hint(e, "use the keys user and password instead");
		return -EINVAL;
	}
	return replace_string(at, s, e);
}

/* Reads a secret from a file; a trailing newline is removed. */
static int read_secret(const struct config_key *row, char **at, const struct toml_value *table,
		       const struct value_origin *from, struct tacho_error *e)
{
	const struct toml_value *file = toml_get(table, STR_LIT("file"));
	scoped(freep) char *path = NULL;
	struct buf text = { 0 };
	struct str s = { 0 };
	int err;

	if (!file || table->n != 1)
		return key_fail(e, from, table->at, "%s must be a string or { file = \"PATH\" }",
				row->name);
	err = key_text(row, file, from, &s, e);
	if (!err)
		err = set_path(row, &path, s, from, e);
	if (err)
		return err;
	err = io_read(path, SECRET_MAX, &text);
	if (err)
		err = key_fail(e, from, file->at, "%s: cannot read %s: %s", row->name, path, strerror(-err));
	else
		err = replace_string(at, text.n ? str_trim(buf_view(&text)) : STR_LIT(""), e);
	buf_done(&text);
	return err;
}

static int set_string(const struct config_key *row, char **at, const struct toml_value *v,
		      const struct value_origin *from, struct tacho_error *e)
{
	struct str s = { 0 };
	int err;

	if (row->kind == KEY_SECRET && v->kind == TOML_TABLE)
		return read_secret(row, at, v, from, e);
	err = key_text(row, v, from, &s, e);
	if (err)
		return err;
	if (row->kind == KEY_PATH)
		return set_path(row, at, s, from, e);
	if (row->kind == KEY_URL)
		return set_url(row, at, v, s, from, e);
	return replace_string(at, s, e);
}

static int set_bool(const struct config_key *row, bool *at, const struct toml_value *v,
		    const struct value_origin *from, struct tacho_error *e)
{
	bool text = v->kind == TOML_STRING && v->untyped;

	if (text && (str_is(v->text, "true") || str_is(v->text, "false")))
		*at = v->text.s[0] == 't';
	else if (v->kind == TOML_BOOL)
		*at = v->boolean;
	else
		return wrong_kind(row, v, from, "true or false", e);
	return 0;
}

/* Formats `v` as the row's kind, for messages. */
static void put_amount(const struct config_key *row, uint64_t v, char *out, size_t size)
{
	struct buf text = { 0 };

	key_show(&(struct config_key){ .kind = row->kind == KEY_INT ? KEY_U64 : row->kind }, &v, &text);
	snprintf(out, size, "%s", text.bytes ? text.bytes : "?");
	buf_done(&text);
}

static int check_range(const struct config_key *row, const struct toml_value *v, uint64_t got,
		       const struct value_origin *from, struct tacho_error *e)
{
	char low[40], high[40];

	if ((!row->min && !row->max) || (got >= row->min && (!row->max || got <= row->max)))
		return 0;
	put_amount(row, row->min, low, sizeof(low));
	put_amount(row, row->max, high, sizeof(high));
	if (!row->max)
		return key_fail(e, from, v->at, "%s must be at least %s", row->name, low);
	return key_fail(e, from, v->at, "%s must be between %s and %s", row->name, low, high);
}

static int parse_bytes(struct str s, uint64_t *out)
{
	if (str_ends(s, "iB"))
		s.n -= 2;
	return num_bytes(s, out);
}

/* Numbers, durations and sizes, all stored as uint64_t. */
static int read_amount(const struct config_key *row, const struct toml_value *v,
		       const struct value_origin *from, uint64_t *out, struct tacho_error *e)
{
	static const char *const wanted[] = {
		[KEY_U64] = "a non-negative number",
		[KEY_DURATION] = "a duration such as \"1s\", \"10ms\" or \"30d\"",
		[KEY_BYTES] = "a size such as 4096, \"64M\" or \"1GiB\"",
	};
	bool text = v->kind == TOML_STRING || (v->untyped && v->kind == TOML_INTEGER);
	int err = -EINVAL;

	if (row->kind != KEY_DURATION && v->kind == TOML_INTEGER && v->integer >= 0) {
		*out = (uint64_t)v->integer;
		err = 0;
	} else if (text && row->kind == KEY_DURATION) {
		err = num_duration_ns(v->text, out);
	} else if (text && row->kind == KEY_BYTES) {
		err = parse_bytes(v->text, out);
	} else if (text && v->untyped) {
		err = num_u64(v->text, out);
	}
	if (err && v->kind < TOML_ARRAY)
		return key_fail(e, from, v->at, "%s: '%.*s' is not %s", row->name,
				(int)min_of(v->text.n, (size_t)60), v->text.s, wanted[row->kind]);
	if (err)
		return wrong_kind(row, v, from, wanted[row->kind], e);
	return check_range(row, v, *out, from, e);
}

static int set_amount(const struct config_key *row, uint64_t *at, const struct toml_value *v,
		      const struct value_origin *from, struct tacho_error *e)
{
	uint64_t got = 0;
	int err = read_amount(row, v, from, &got, e);

	if (!err)
		*at = got;
	return err;
}

static int set_int(const struct config_key *row, int *at, const struct toml_value *v,
		   const struct value_origin *from, struct tacho_error *e)
{
	int64_t low = row->min || row->max ? (int64_t)row->min : INT32_MIN;
	int64_t high = row->min || row->max ? (int64_t)row->max : INT32_MAX, got = v->integer;

	if (v->kind != TOML_INTEGER && !(v->untyped && v->kind == TOML_STRING && !num_i64(v->text, &got)))
		return wrong_kind(row, v, from, "a number", e);
	if (got < low || got > high)
		return key_fail(e, from, v->at, "%s must be between %" PRId64 " and %" PRId64,
				row->name, low, high);
	*at = (int)got;
	return 0;
}

static int set_double(const struct config_key *row, double *at, const struct toml_value *v,
		      const struct value_origin *from, struct tacho_error *e)
{
	bool percent = row->kind == KEY_PERCENT && v->kind == TOML_STRING && str_ends(v->text, "%");
	struct str s = percent ? str_trim(str_n(v->text.s, v->text.n - 1)) : v->text;
	double got = 0;

	if (v->kind == TOML_INTEGER)
		got = (double)v->integer;
	else if (v->kind == TOML_FLOAT)
		got = v->real;
	else if (v->kind != TOML_STRING || !(percent || v->untyped) || num_double(s, &got))
		return wrong_kind(row, v, from, row->kind == KEY_PERCENT ?
				  "a number or a percentage such as \"2.5%\"" : "a number", e);
	if (!isfinite(got) || got < 0)
		return key_fail(e, from, v->at, "%s must not be negative", row->name);
	if (row->max && got > (double)row->max)
		return key_fail(e, from, v->at, "%s must be at most %" PRIu64, row->name, row->max);
	*at = got;
	return 0;
}

static int set_choice(const struct config_key *row, int *at, const struct toml_value *v,
		      const struct value_origin *from, struct tacho_error *e)
{
	struct str rest = str_of(row->choices), word, s = { 0 };
	int err = key_text(row, v, from, &s, e), i = 0;
	struct str_nearest near = { .word = err ? STR_LIT("") : s };

	if (err)
		return err;
	for (; str_cut(&rest, ' ', &word); i++) {
		if (str_eq(word, s)) {
			*at = i;
			return 0;
		}
		str_nearest_try(&near, word);
	}
	key_fail(e, from, v->at, "%s: '%.*s' is not one of: %s", row->name,
		 (int)min_of(s.n, (size_t)60), s.s, row->choices);
	if (near.best.n)
		error_hint(e, "did you mean '%.*s'?", STR(near.best));
	return -EINVAL;
}

/* An array of strings; a single string is accepted as an array of one. */
static int set_strings(const struct config_key *row, struct strlist *at, const struct toml_value *v,
		       const struct value_origin *from, struct tacho_error *e)
{
	const struct toml_value *member = v->kind == TOML_ARRAY ? v->first : v;
	struct strlist list = { 0 };
	struct str s = { 0 };
	int err = 0;

	if (v->kind == TOML_TABLE)
		return wrong_kind(row, v, from, "an array of strings", e);
	while (member && !err) {
		err = key_text(row, member, from, &s, e);
		if (!err && strlist_add(&list, s))
			err = error_nomem(e);
		member = v->kind == TOML_ARRAY ? member->next : NULL;
	}
	if (err) {
		strlist_done(&list);
		return err;
	}
	strlist_done(at);
	*at = list;
	return 0;
}

int key_pair_set(struct key_pairs *pairs, struct str name, struct str value)
{
	struct key_pair *pair = NULL;
	char *copy = str_dup(value);

	for (size_t i = 0; i < pairs->n && !pair; i++)
		if (str_is(name, pairs->v[i].name))
			pair = &pairs->v[i];
	if (copy && !pair) {
		pair = vec_add(pairs);
		if (pair) {
			pair->name = str_dup(name);
			if (!pair->name) {
				pairs->n--;
				pair = NULL;
			}
		}
	}
	if (!copy || !pair) {
		free(copy);
		return -ENOMEM;
	}
	free(pair->value);
	pair->value = copy;
	return 0;
}

static int set_pairs(const struct config_key *row, struct key_pairs *at, const struct toml_value *v,
		     const struct value_origin *from, struct tacho_error *e)
{
	struct str s = { 0 };
	int err = 0;

	if (v->kind != TOML_TABLE)
		return wrong_kind(row, v, from, "a table of strings", e);
	for (const struct toml_value *m = v->first; m && !err; m = m->next) {
		err = key_text(row, m, from, &s, e);
		if (!err && key_pair_set(at, m->key, s))
			err = error_nomem(e);
	}
	return err;
}

int key_set(const struct config_key *row, void *into, const struct toml_value *v,
	    const struct value_origin *from, struct tacho_error *e)
{
	switch (row->kind) {
	case KEY_STRING:
	case KEY_PATH:
	case KEY_URL:
	case KEY_SECRET:
		return set_string(row, value_at(row, into), v, from, e);
	case KEY_BOOL:
		return set_bool(row, value_at(row, into), v, from, e);
	case KEY_U64:
	case KEY_DURATION:
	case KEY_BYTES:
		return set_amount(row, value_at(row, into), v, from, e);
	case KEY_DOUBLE:
	case KEY_PERCENT:
		return set_double(row, value_at(row, into), v, from, e);
	case KEY_INT:
		return set_int(row, value_at(row, into), v, from, e);
	case KEY_CHOICE:
		return set_choice(row, value_at(row, into), v, from, e);
	case KEY_STRINGS:
		return set_strings(row, value_at(row, into), v, from, e);
	case KEY_PAIRS:
		return set_pairs(row, value_at(row, into), v, from, e);
	case KEY_OTHER:
		return row->set(into, v, from, e);
	case KEY_END:
		break;
	}
	return error_set(e, -EINVAL, "the row of %s has no kind", row->name);
}

int key_set_text(const struct config_key *row, void *into, struct str text,
		 const struct value_origin *from, struct tacho_error *e)
{
	scoped(freep) char *copy = str_dup(text);
	struct toml_value plain = { .kind = TOML_STRING, .untyped = true };
	struct toml doc;
	int err;

	if (!copy)
		return error_nomem(e);
	plain.text = str_n(copy, text.n);
	err = toml_parse_value(&doc, text, NULL);
	if (err == -ENOMEM)
		return error_nomem(e);
	if (err)
		return key_set(row, into, &plain, from, e);
	doc.root->untyped = true;
	err = key_set(row, into, doc.root, from, e);
	toml_done(&doc);
	return err;
}

int keys_defaults(const struct config_key *rows, void *into, struct tacho_error *e)
{
	for (const struct config_key *row = rows; row && row->kind != KEY_END; row++) {
		int err = row->fallback ? key_set_text(row, into, str_of(row->fallback), NULL, e) : 0;

		if (err)
			return err;
	}
	return 0;
}

static void pairs_done(struct key_pairs *pairs)
{
	for (size_t i = 0; i < pairs->n; i++) {
		free(pairs->v[i].name);
		free(pairs->v[i].value);
	}
	vec_done(pairs);
}

void keys_done(const struct config_key *rows, void *of)
{
	for (const struct config_key *row = rows; row && row->kind != KEY_END; row++) {
		switch (row->kind) {
		case KEY_STRING:
		case KEY_PATH:
		case KEY_URL:
		case KEY_SECRET:
			free(take(*(char **)value_at(row, of)));
			break;
		case KEY_STRINGS:
			strlist_done(value_at(row, of));
			break;
		case KEY_PAIRS:
			pairs_done(value_at(row, of));
			break;
		case KEY_OTHER:
			if (row->done)
				row->done(of);
			break;
		default:
			break;
		}
	}
}
