#include "probe/function_match.h"

#include <ctype.h>
#include <errno.h>

#include "symbol/demangle.h"

/* Blanks matter only between two words: "unsigned int". */
static void put_compact(struct buf *out, struct str s)
{
	for (size_t i = 0; i < s.n; i++) {
		bool blank = s.s[i] == ' ';
		bool between = i && i + 1 < s.n && (isalnum((unsigned char)s.s[i - 1]) || s.s[i - 1] == '_') &&
			       (isalnum((unsigned char)s.s[i + 1]) || s.s[i + 1] == '_');

		if (!blank || between)
			buf_putc(out, s.s[i]);
	}
}

int function_match_init(struct function_match *m, const char *wanted)
{
	struct str s = str_of(wanted);
	const char *operator_at = strstr(wanted, "operator()");

	*m = (struct function_match){ 0 };
	put_compact(&m->text, s);
	if (buf_failed(&m->text))
		return -ENOMEM;
	m->wanted = buf_view(&m->text);
	m->is_glob = str_has_glob(s);
	m->has_params = strchr(operator_at ? operator_at + 10 : wanted, '(') != NULL;
	m->is_qualified = m->has_params || strstr(wanted, "::") || strchr(wanted, '<') || strstr(wanted, "operator");
	return 0;
}

void function_match_done(struct function_match *m)
{
	buf_done(&m->text);
}

/* The length of a demangled name without its parameters: the last '(' at depth 0 starts them. */
static size_t without_params(struct str name)
{
	unsigned depth = 0;
	size_t at = name.n;

	while (at) {
		char c = name.s[--at];

		if (c == ')')
			depth++;
		else if (c == '(' && depth && --depth == 0)
			return at >= 8 && memcmp(name.s + at - 8, "operator", 8) == 0 ? name.n : at;
	}
	return name.n;
}

/* Whether the end of `name`, from the start of a component on, matches. */
static bool matches_components(const struct function_match *m, struct str name)
{
	if (m->is_glob ? str_glob(m->wanted, name) : str_eq(m->wanted, name))
		return true;
	for (size_t i = 0; i + 1 < name.n; i++) {
		struct str rest = str_n(name.s + i + 2, name.n - i - 2);

		if (name.s[i] == '(' || name.s[i] == '<')
			break;
		if (name.s[i] == ':' && name.s[i + 1] == ':' &&
		    (m->is_glob ? str_glob(m->wanted, rest) : str_eq(m->wanted, rest)))
			return true;
	}
	return false;
}

/* Rust's newer mangling keeps what the older one leaves out: "<r::Shape>::area" is r::Shape::area, and "r::twice::<i32>" is
 * r::twice as well as r::twice<i32>. */
static bool matches_rust(const struct function_match *m, struct str name)
{
	scoped(buf_done) struct buf plain = { 0 };
	const char *close = name.s[0] == '<' ? memmem(name.s, name.n, ">::", 3) : NULL;
	struct str last = close ? str_n(close + 1, name.n - (size_t)(close + 1 - name.s)) : name;
	const char *generics = name.s[name.n - 1] == '>' ? memmem(last.s, last.n, "::<", 3) : NULL;
	size_t n_args = generics ? (size_t)(last.s + last.n - generics) : 0;

	if ((!close && !n_args) || memmem(name.s, name.n, " as ", 4))
		return false;
	if (close)
		buf_put(&plain, name.s + 1, (size_t)(close - name.s) - 1);
	buf_put(&plain, last.s, last.n - n_args);
	if (buf_failed(&plain) || !plain.n)
		return false;
	if (matches_components(m, buf_view(&plain)))
		return true;
	if (n_args)
		buf_put(&plain, generics + 2, n_args - 2);
	return n_args && !buf_failed(&plain) && matches_components(m, buf_view(&plain));
}

bool function_match_demangled(const struct function_match *m, const char *name)
{
	scoped(buf_done) struct buf compact = { 0 };
	struct str s;

	put_compact(&compact, str_of(name));
	if (buf_failed(&compact))
		return false;
	s = buf_view(&compact);
	if (matches_components(m, s) || (s.n && matches_rust(m, s)))
		return true;
	s.n = without_params(s);
	if (m->has_params)		/* "f(int)" also stands for "f(int) const" */
		return compact.n > m->wanted.n && str_ends(buf_view(&compact), "const") &&
		       matches_components(m, str_n(compact.bytes, compact.n - 5));
	return matches_components(m, s);
}

bool function_match_symbol(const struct function_match *m, const char *name)
{
	struct str s = str_of(name);
	scoped(buf_done) struct buf text = { 0 };

	if (m->is_glob && !m->is_qualified ? str_glob(m->wanted, s) : str_eq(m->wanted, s))
		return true;
	if (!m->is_qualified || name[0] != '_' || !demangle(name, true, &text) || buf_failed(&text))
		return false;
	return function_match_demangled(m, text.bytes);
}
