/*
 * Reads event lists in PerfSpect's text format, which has events in perf's syntax:
 *
 *	cpu/event=0xc3,umask=0x1,name='ex_ret_brn_misp'/,
 *
 * ',' and ';' end events and groups, '#' begins a comment. Names without a PMU (cpu-cycles) are generic
 * events and skipped. Modifiers after the last slash, which are also part of name=, are dropped,
 * because users add modifiers themselves.
 */
#include "event/vendor.h"

#include <errno.h>

#include "base/num.h"

static int refuse_line(struct tacho_error *e, unsigned line, const char *why)
{
	return error_set(e, -EINVAL, "line %u: %s", line, why);
}

static struct str unquoted(struct str s)
{
	if (s.n >= 2 && (s.s[0] == '\'' || s.s[0] == '"') && s.s[s.n - 1] == s.s[0])
		return str_n(s.s + 1, s.n - 2);
	return s;
}

static bool is_key(struct str key)
{
	for (size_t i = 0; i < key.n; i++)
		if (!((key.s[i] >= 'a' && key.s[i] <= 'z') || key.s[i] == '_' ||
		      (key.s[i] >= '0' && key.s[i] <= '9')))
			return false;
	return key.n > 0 && key.n <= 40;
}

/* Splits "event=0xc3,name='x'" into terms and a name. Returns an error message or NULL. */
static const char *split_terms(struct str text, struct buf *terms, struct str *name)
{
	struct str one, key, letters;
	uint64_t value;

	while (str_cut(&text, ',', &one)) {
		bool valued = str_cut(&one, '=', &key) && one.s;

		key = str_trim(key);
		if (valued && str_is(key, "name")) {
			letters = unquoted(str_trim(one));
			str_cut(&letters, ':', name);
			continue;
		}
		/* An event named in sysfs (power/energy-pkg/) needs no list. */
		if (!valued && !terms->n && !name->n && !text.s) {
			*name = (struct str){ 0 };
			return NULL;
		}
		if (!is_key(key) || (valued && num_u64(str_trim(one), &value) < 0))
			return "cannot parse the terms; they must be key=number";
		buf_printf(terms, "%s%.*s=0x%llx", terms->n ? "," : "", STR(key),
			   (unsigned long long)(valued ? value : 1));
	}
	return NULL;
}

static int add_line(struct vendor_builder *b, struct str pmu, struct str inner, unsigned line,
		    struct tacho_error *e)
{
	struct buf terms = { 0 }, pmus = { 0 };
	struct str name = { 0 };
	const char *why = split_terms(inner, &terms, &name);
	struct vendor_event *ev;
	int err = why ? refuse_line(e, line, why) : 0;

	if (!err && name.n) {
		vendor_unit_pmu(pmu, &pmus);
		ev = buf_failed(&terms) || buf_failed(&pmus) ? NULL : vendor_add(b, name);
		if (ev) {
			ev->pmu = vendor_put(b, buf_view(&pmus));
			ev->terms = vendor_put(b, buf_view(&terms));
		}
		if (!ev || buf_failed(&b->pool))
			err = error_nomem(e);
	}
	buf_done(&terms);
	buf_done(&pmus);
	return err;
}

/* Finds the last slash, which ends the terms; modifiers, ',' or ';' may follow. */
static ptrdiff_t last_slash(struct str s)
{
	for (size_t i = s.n; i > 0; i--)
		if (s.s[i - 1] == '/')
			return (ptrdiff_t)i - 1;
	return -1;
}

static int read_line(struct vendor_builder *b, struct str s, unsigned line, struct tacho_error *e)
{
	ptrdiff_t first, last;

	s = str_trim(s);
	first = str_find(s, '/');
	if (!s.n || s.s[0] == '#' || first < 0)
		return 0;
	last = last_slash(s);
	if (first == last || first == 0)
		return refuse_line(e, line, "an event was expected, such as cpu/event=0xc3,name='x'/");
	return add_line(b, str_n(s.s, (size_t)first), str_n(s.s + first + 1, (size_t)(last - first - 1)),
			line, e);
}

int vendor_read_text(struct vendor_builder *b, struct str text, struct tacho_error *e)
{
	unsigned line = 0;
	struct str one;
	int err = 0;

	while (!err && str_cut(&text, '\n', &one)) {
		if (b->events.n >= VENDOR_EVENTS_MAX)
			return error_set(e, -EFBIG, "more than %u events", VENDOR_EVENTS_MAX);
		err = read_line(b, one, ++line, e);
	}
	if (!err && !b->events.n)
		return error_set(e, -EINVAL, "no event found, such as cpu/event=0xc3,name='x'/");
	return err;
}
