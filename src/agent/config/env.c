/*
 * Expands ${NAME} in the strings of a configuration. ${NAME:-text} gives the text if NAME is unset
 * or empty. An unset variable without a default is an error, because an empty password or address
 * would be worse.
 */
#include "agent/config/build.h"

#include <errno.h>

#include "base/error.h"

/* The value of the text between the braces; false: not set. */
static bool expand_variable(struct str inner, struct str *out)
{
	ptrdiff_t at = -1;
	char name[256];
	const char *value;

	for (size_t i = 0; i + 1 < inner.n && at < 0; i++)
		if (inner.s[i] == ':' && inner.s[i + 1] == '-')
			at = (ptrdiff_t)i;
	if ((at < 0 ? inner.n : (size_t)at) >= sizeof(name))
		return false;
	memcpy(name, inner.s, at < 0 ? inner.n : (size_t)at);
	name[at < 0 ? inner.n : (size_t)at] = '\0';
	value = getenv(name);
	if (at >= 0 && (!value || !*value))
		*out = str_n(inner.s + at + 2, inner.n - (size_t)at - 2);
	else
		*out = str_of(value);
	return at >= 0 || value;
}

static bool starts_at(struct str text, size_t at, const char *word)
{
	return str_starts(str_n(text.s + at, text.n - at), word);
}

int config_substitute_text(struct str text, const char *escape, struct buf *out, struct str *unset)
{
	size_t skip = strlen(escape);
	int found = 0;

	for (size_t i = 0; i < text.n;) {
		struct str inner, value;
		ptrdiff_t end;

		if (starts_at(text, i, escape) && starts_at(text, i + skip, "${")) {
			buf_puts(out, "${");
			i += skip + 2;
			found = 1;
			continue;
		}
		if (!starts_at(text, i, "${")) {
			buf_putc(out, text.s[i++]);
			continue;
		}
		end = str_find(str_n(text.s + i, text.n - i), '}');
		inner = str_n(text.s + i + 2, end < 0 ? text.n - i - 2 : (size_t)end - 2);
		*unset = inner;
		if (end < 0 || !expand_variable(inner, &value))
			return -ENOENT;
		buf_str(out, value);
		i += (size_t)end + 1;
		found = 1;
	}
	return buf_failed(out) ? -ENOMEM : found;
}

static int substitute_string(struct toml *doc, struct toml_value *v, const struct value_origin *from,
			     struct tacho_error *e)
{
	struct buf out = { 0 };
	struct str unset;
	char *copy;
	int found = config_substitute_text(v->text, "$", &out, &unset);

	if (found == -ENOENT) {
		buf_done(&out);
		unset.n = min_of(unset.n, (size_t)60);
		key_fail(e, from, v->at, "the environment variable '%.*s' is not set", STR(unset));
		error_hint(e, "use ${%.*s:-TEXT} to give a default; $${ is a literal ${", STR(unset));
		return -EINVAL;
	}
	copy = found > 0 ? arena_str(&doc->arena, out.n ? buf_view(&out) : STR_LIT("")) : NULL;
	if (copy) {
		v->text = str_n(copy, out.n);
		v->untyped = true;
	}
	buf_done(&out);
	return found && !copy ? error_nomem(e) : 0;
}

static int substitute(struct toml *doc, struct toml_value *v, const struct value_origin *from,
		      struct tacho_error *e)
{
	int err = v->kind == TOML_STRING ? substitute_string(doc, v, from, e) : 0;

	for (struct toml_value *m = v->first; m && !err; m = m->next)
		err = substitute(doc, m, from, e);
	return err;
}

int config_substitute(struct toml *doc, const struct value_origin *from, struct tacho_error *e)
{
	return substitute(doc, doc->root, from, e);
}
