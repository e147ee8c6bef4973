/*
 * Source lines with those that can be probed.
 */
#include "probe/dwarf_internal.h"
#include "probe/probe.h"

#include <errno.h>

#include "base/num.h"
#include "probe/source_file.h"

#define LINES_AFTER 3			/* shown after the last line with code */


static int refuse_range(struct tacho_error *e, struct str text)
{
	error_set(e, -EINVAL, "'%.*s' is not a range of lines", STR(text));
	error_hint(e, "write FUNC:FIRST-LAST, FUNC:FIRST+COUNT or FILE:FIRST-LAST");
	return -EINVAL;
}

/* Splits "FUNC:3-5" into the point and the range. */
static int parse_range(const char *text, struct buf *point, int *first, int *last, struct tacho_error *e)
{
	struct str s = str_of(text), range, number;
	const char *colon = strrchr(text, ':');
	uint32_t from, to;
	size_t at;

	*first = *last = 0;
	if (strchr(text, ';') || strchr(text, '%') || !s.n)
		return refuse_range(e, s);
	if (!colon || (colon > text && colon[-1] == ':')) {
		buf_puts(point, text);
		return buf_failed(point) ? error_nomem(e) : 0;
	}
	buf_put(point, text, (size_t)(colon - text));
	range = str_of(colon + 1);
	at = strcspn(range.s, "-+");
	number = str_n(range.s, at);
	if (num_u32(number, &from) < 0 || from > LINES_MAX)
		return refuse_range(e, s);
	*first = (int)from;
	if (at < range.n) {
		if (num_u32(str_n(range.s + at + 1, range.n - at - 1), &to) < 0 || to > LINES_MAX ||
		    (range.s[at] == '-' ? to < from : !to))
			return refuse_range(e, s);
		*last = range.s[at] == '-' ? (int)to : (int)(from + to) - 1;
	} else {
		*last = -1;
	}
	return buf_failed(point) ? error_nomem(e) : 0;
}

static bool is_file_name(struct str s)
{
	return memchr(s.s, '.', s.n) || memchr(s.s, '/', s.n);
}

struct line_printer {
	struct tacho_probes *p;
	struct dwarf_lines_found *found;
	struct source_text source;
	int (*fn)(void *arg, const struct tacho_probe_source *source, const struct tacho_probe_line *line);
	void *arg;
};

static int print_lines(struct line_printer *x, const char *function, int first, int last)
{
	const struct dwarf_lines_found *found = x->found;
	int base = function ? found->declared : 0;
	struct tacho_probe_source source = { .size = sizeof(source), .function = function, .file = found->file,
					     .first = (uint32_t)first };
	int err = 0;

	for (int line = base + first; err == 0 && line <= last && source_file_has(&x->source, line); line++) {
		scoped(freep) char *text = str_dup(source_file_line(&x->source, line));
		struct tacho_probe_line shown = { .size = sizeof(shown), .number = (uint32_t)(line - base), .text = text,
						  .has_code = line_set_has(&found->lines, line) };

		err = text ? x->fn(x->arg, &source, &shown) : -ENOMEM;
	}
	return err;
}

struct line_range {
	int first, last;		/* of a function: relative to its first line; last 0: to the end */
};

static int show_range(struct probe_dwarf *d, const struct dwarf_request *want, const struct line_range *range,
		      struct line_printer *x, struct tacho_error *e)
{
	struct dwarf_lines_found found = { 0 };
	const char *function = want->r->point.function;
	int err = dwarf_find_lines(d, want, &found, e), base, first = range->first;

	if (err == -ENOENT)
		err = error_set(e, err, "the debug information has no %s '%s'", function ? "function" : "file",
				function ? function : want->r->point.file);
	if (err == 0) {
		err = source_file_read(&x->source, found.file, found.directory, want->source);
		if (err < 0) {
			error_set(e, err, "the source file '%s' cannot be read: %s", found.file, strerror(-err));
			error_hint(e, "-s DIR names the directory where it is");
		}
	}
	base = function ? found.declared : 0;
	if (!function && !first)
		first = 1;
	x->found = &found;
	if (err == 0)
		err = print_lines(x, function, first, range->last > 0 ? base + range->last : found.lines.last + LINES_AFTER);
	x->found = NULL;
	source_file_done(&x->source);
	line_set_done(&found.lines);
	return err;
}

int tacho_probes_lines(struct tacho_probes *p, const char *range,
		       int (*fn)(void *arg, const struct tacho_probe_source *source, const struct tacho_probe_line *line),
		       void *arg, struct tacho_error *e)
{
	scoped(buf_done) struct buf point = { 0 };
	struct line_printer x = { .p = p, .fn = fn, .arg = arg };
	struct probe_request r = { 0 };
	struct dwarf_request want = { .r = &r, .source = p->target.source };
	struct probe_object *o = NULL;
	struct probe_dwarf *d;
	struct line_range lines;
	int err = parse_range(range, &point, &lines.first, &lines.last, e);

	if (err == 0 && is_file_name(buf_view(&point)) && !strchr(point.bytes, '@')) {
		r.point.file = arena_str(&r.text, buf_view(&point));
		err = r.point.file ? 0 : error_nomem(e);
	} else if (err == 0) {
		err = probe_point_parse(&r, buf_view(&point), e);
	}
	if (err == 0 && !r.point.function && !r.point.file)
		err = refuse_range(e, str_of(range));
	if (err == 0)
		err = probes_debug_object(p, &o, &d, e);
	want.o = o;
	if (err == 0)
		err = show_range(d, &want, &lines, &x, e);
	probe_request_done(&r);
	return err;
}
