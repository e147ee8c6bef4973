#include "probe/name.h"

#include <ctype.h>
#include <errno.h>

#include "symbol/demangle.h"

#define SUFFIX_MAX 1024u

/* "a::b<c>" -> "a__b_c_": the name of an event has only letters, digits and _. */
static void put_identifier(struct buf *out, struct str s)
{
	if (s.n && isdigit((unsigned char)s.s[0]) && !out->n)
		buf_putc(out, '_');
	for (size_t i = 0; i < s.n; i++)
		buf_putc(out, isalnum((unsigned char)s.s[i]) ? s.s[i] : '_');
}

void probe_group_name(const char *path, const struct probe_site *site, struct buf *out)
{
	const char *slash = path ? strrchr(path, '/') : NULL, *base = slash ? slash + 1 : path;
	size_t n = 0;

	if (site->provider) {
		buf_puts(out, "sdt_");
		put_identifier(out, str_of(site->provider));
	} else if (!path) {
		buf_puts(out, "probe");
	} else {
		while (base[n] && (isalnum((unsigned char)base[n]) || base[n] == '_'))
			n++;
		buf_printf(out, "probe_%.*s", (int)min_of(n, (size_t)EVENT_NAME_MAX - 6), base);
	}
	if (out->n > EVENT_NAME_MAX)
		out->n = EVENT_NAME_MAX;
}

/* A C++ or Rust name without parameters, template arguments and leading namespaces beyond two components. */
static void put_qualified(struct buf *out, struct str name)
{
	size_t n = 0, start = 0, components = 0;

	while (n < name.n && name.s[n] != '(' && name.s[n] != '<' && name.s[n] != '[')
		n++;
	if (n < 2)
		n = name.n;
	for (size_t i = n; i > 1 && components < 2; i--)
		if (name.s[i - 1] == ':' && name.s[i - 2] == ':' && ++components == 2)
			start = i;
	put_identifier(out, str_n(name.s + start, n - start));
}

static void put_function(struct buf *out, const char *function, bool is_plain)
{
	struct str s;
	size_t n;
	scoped(buf_done) struct buf text = { 0 };

	/* As perf 7 does. */
	if (is_plain && function[strspn(function, "_")])
		function += strspn(function, "_");
	s = str_of(function);
	n = strcspn(function, ".@");
	if (!is_plain && demangle(function, false, &text) && !buf_failed(&text)) {
		put_qualified(out, buf_view(&text));
		return;
	}
	/* gcc's copies: "read.constprop.0", "read.cold" */
	if (n && n < s.n)
		s.n = n;
	if (memmem(s.s, s.n, "::", 2) || memchr(s.s, '(', s.n))
		put_qualified(out, s);
	else
		put_identifier(out, s);
}

/* A name that stands for itself: no pattern, and not demangled. */
static bool has_plain_name(const struct probe_point *p)
{
	return p->function && !str_has_glob(str_of(p->function)) && !strstr(p->function, "::") && !strpbrk(p->function, "(<");
}

void probe_event_base(const struct probe_request *r, const struct probe_site *site, struct buf *out)
{
	struct buf suffix = { 0 };

	if (r->event)
		buf_puts(out, r->event);
	else
		put_function(out, has_plain_name(&r->point) ? r->point.function : site->function, has_plain_name(&r->point));
	if (!r->event && r->point.function && r->point.has_line && r->point.line)
		buf_printf(&suffix, "_L%u", r->point.line);
	if (site->is_return)
		buf_puts(&suffix, "__return");
	/* Long names are cut: the kernel refuses more than 63 characters. */
	if (out->n + suffix.n > EVENT_NAME_MAX)
		out->n = EVENT_NAME_MAX - suffix.n;
	buf_put(out, suffix.bytes, suffix.n);
	buf_done(&suffix);
}

static bool is_used(const struct probe_used_names *used, struct str name)
{
	for (size_t i = 0; used->defined && i < used->defined->list.n; i++) {
		const struct probe_definition *d = &used->defined->list.v[i];

		if (str_eq(d->group, used->group) && str_eq(d->event, name))
			return true;
	}
	return false;
}

int probe_unique_name(const struct probe_used_names *used, struct str base, struct buf *out, struct tacho_error *e)
{
	buf_str(out, base);
	for (unsigned i = 1; is_used(used, buf_view(out)); i++) {
		struct str cut = str_n(base.s, min_of(base.n, (size_t)EVENT_NAME_MAX - 5));

		if (!used->force || i > SUFFIX_MAX) {
			error_set(e, -EEXIST, "event \"%.*s\" already exists", STR(base));
			error_hint(e, "remove it with 'probe -d %.*s:%.*s', or add another one with -f", STR(used->group),
				   STR(base));
			return -EEXIST;
		}
		buf_clear(out);
		buf_printf(out, "%.*s_%u", STR(cut), i);
	}
	return buf_failed(out) ? error_nomem(e) : 0;
}
