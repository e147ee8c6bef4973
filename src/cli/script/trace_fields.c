/*
 * Fields of tracepoints in -F: "next_comm", "sched_switch.next_pid", "*.pid". They are printed as NAME=VALUE after the text
 * of the tracepoint. Which ones exist is known only when the formats in the recording have been read, so a word that is not
 * one of perf's fields is stored here, and checked then.
 */
#include "cli/script/script.h"

#include <ctype.h>
#include <errno.h>

#include "base/error.h"

enum { VALUE_BYTES = 256 };

static bool is_name(struct str word)
{
	for (size_t i = 0; i < word.n; i++)
		if (!isalnum((unsigned char)word.s[i]) && !strchr("_.*?:-", word.s[i]))
			return false;
	return word.n && !isdigit((unsigned char)word.s[0]);
}

static void remove_name(struct trace_field_names *names, struct str word)
{
	size_t n = 0;

	for (size_t i = 0; i < names->n; i++)
		if (!str_eq(names->v[i].word, word))
			names->v[n++] = names->v[i];
	names->n = n;
}

bool trace_fields_add(struct trace_field_names *names, struct str word, const char *text, char how)
{
	struct trace_field_name name = { .word = word, .text = text, .field = word, .event = STR_LIT("*") };
	size_t dot = word.n;

	if (!is_name(word) || names->n == MAX_TRACE_FIELDS)
		return false;
	remove_name(names, word);
	if (how == '-')
		return true;
	while (dot && word.s[dot - 1] != '.')
		dot--;
	if (dot) {
		name.event = str_n(word.s, dot - 1);
		name.field = str_n(word.s + dot, word.n - dot);
	}
	if (!name.event.n || !name.field.n)
		return false;
	names->v[names->n++] = name;
	return true;
}

/* "sched:sched_switch" is selected by its whole name and by the part after the colon. */
static bool names_event(const struct trace_field_name *name, const struct tacho_trace_event *format)
{
	const char *event = tacho_trace_name(format), *colon = strchr(event, ':');

	return str_glob(name->event, str_of(event)) || (colon && str_glob(name->event, str_of(colon + 1)));
}

static bool selects(const struct trace_field_name *name, const struct tacho_trace_event *format, size_t field)
{
	struct str text = str_of(tacho_trace_field(format, field)->name);

	/* A pattern does not stand for the fields that every tracepoint has. */
	if (str_starts(text, "common_") && !str_starts(name->field, "common_"))
		return false;
	return str_glob(name->field, text) && names_event(name, format);
}

static void mark_found(struct trace_field_names *names, const struct tacho_trace_event *format)
{
	for (size_t i = 0; i < names->n; i++)
		for (size_t k = 0; k < tacho_trace_n_fields(format) && !names->v[i].found; k++)
			names->v[i].found = selects(&names->v[i], format, k);
}

int trace_fields_of_event(struct script *s, struct script_event *ev)
{
	const struct tacho_trace_event *format = ev->trace;
	struct trace_field_names *names = &s->fields.trace;

	if (!names->n || !format || format == ev->fields_format)
		return 0;
	mark_found(names, format);
	ev->fields_format = format;
	ev->trace_fields.n = 0;
	for (size_t i = 0; i < names->n; i++)
		for (size_t k = 0; k < tacho_trace_n_fields(format); k++) {
			size_t *slot = selects(&names->v[i], format, k) ? vec_next(&ev->trace_fields) : NULL;

			if (!slot && selects(&names->v[i], format, k))
				return -ENOMEM;
			if (slot)
				*slot = k;
		}
	return 0;
}

const struct trace_field_name *trace_fields_unknown(const struct trace_field_names *names)
{
	for (size_t i = 0; i < names->n; i++)
		if (!names->v[i].found)
			return &names->v[i];
	return NULL;
}

static void put_value(struct script *s, const struct script_event *ev, struct buf *out, size_t field,
		      const struct tacho_sample *sample)
{
	size_t room = VALUE_BYTES;
	ptrdiff_t n;
	char *at;

	for (;;) {
		at = buf_grow(out, room);
		n = at ? tacho_trace_print_field(ev->trace, field, sample->raw, sample->n_raw, &s->trace_opts, at, room) : -1;
		if (n < (ptrdiff_t)room)
			break;
		room = (size_t)n + 1;
	}
	if (!at || n == -ENOMEM) {
		out->bad = true;
		return;
	}
	if (n > 0) {
		str_make_printable(at, (size_t)n);
		out->n += (size_t)n;
	}
}

void trace_fields_put(struct script *s, struct script_event *ev, struct buf *out, const struct tacho_sample *sample)
{
	bool first = !(ev->fields & FIELD_TRACE);

	if (!ev->trace || !sample->raw)
		return;
	if (trace_fields_of_event(s, ev) < 0) {
		out->bad = true;
		return;
	}
	for (size_t i = 0; i < ev->trace_fields.n; i++) {
		size_t field = ev->trace_fields.v[i];

		buf_printf(out, "%s%s=", first ? "" : " ", tacho_trace_field(ev->trace, field)->name);
		put_value(s, ev, out, field, sample);
		first = false;
	}
}
