/*
 * Parses a tracepoint's format file: its ID and fields.
 *
 *	name: sched_switch
 *	ID: 372
 *	format:
 *		field:char prev_comm[16];	offset:8;	size:16;	signed:0;
 *		...
 *	print fmt: "prev_comm=%s ...", REC->prev_comm, ...
 */
#include "trace/trace.h"

#include <errno.h>

#include "base/num.h"

/* The rest of the first line that starts with `key`. */
static struct str line_after(struct str text, const char *key)
{
	struct str line;

	while (str_cut(&text, '\n', &line)) {
		line = str_trim(line);
		if (str_starts(line, key))
			return str_trim(str_n(line.s + strlen(key), line.n - strlen(key)));
	}
	return (struct str){ 0 };
}

int format_id(struct str format, uint64_t *id)
{
	return num_u64(line_after(format, "ID:"), id) ? -EBADMSG : 0;
}

struct str format_print(struct str format)
{
	static const char key[] = "print fmt:";
	const char *at = memmem(format.s, format.n, key, sizeof(key) - 1);

	if (!at)
		return (struct str){ 0 };
	at += sizeof(key) - 1;
	return str_trim(str_n(at, (size_t)(format.s + format.n - at)));
}

/* Finds the part of a line that starts with `key` ("offset:8"; parts end with semicolons) and reads its number. */
static bool part_number(struct str line, const char *key, uint32_t *out)
{
	struct str part;

	while (str_cut(&line, ';', &part)) {
		part = str_trim(part);
		if (str_starts(part, key)) {
			part = str_n(part.s + strlen(key), part.n - strlen(key));
			return num_u32(str_trim(part), out) == 0;
		}
	}
	return false;
}

static bool has_word(struct str text, const char *word)
{
	return memmem(text.s, text.n, word, strlen(word)) != NULL;
}

static uint32_t array_length(struct str brackets)
{
	uint32_t n;

	return num_u32(str_trim(brackets), &n) == 0 ? n : 0;
}

/* "char prev_comm[16]", "__data_loc char[] name", "const void * ptr". */
static int field_declare(struct arena *arena, struct str text, struct tacho_trace_field *f)
{
	ptrdiff_t open = str_find(text, '[');
	uint32_t n = 0;
	size_t cut;

	f->is_relative = has_word(text, "__rel_loc ");
	f->is_dynamic = f->is_relative || has_word(text, "__data_loc ");
	f->is_array = open >= 0 || f->is_dynamic;
	if (!f->is_dynamic && open >= 0) {
		ptrdiff_t close = str_find(text, ']');

		if (close > open)
			n = array_length(str_n(text.s + open + 1, (size_t)(close - open - 1)));
		text.n = (size_t)open;
	}
	text = str_trim(text);
	for (cut = text.n; cut > 0 && text.s[cut - 1] != ' ' && text.s[cut - 1] != '*' &&
			   text.s[cut - 1] != ']'; cut--)
		;
	f->name = arena_text(arena, str_n(text.s + cut, text.n - cut));
	text = str_trim(str_n(text.s, cut));
	f->type = arena_str(arena, text);
	f->is_pointer = !f->is_array && has_word(text, "*");
	f->is_string = f->is_array && has_word(text, "char") && !has_word(text, "unsigned char");
	f->element_size = n ? f->size / n : f->is_array ? 1 : f->size;
	/* Probes declare arrays without a length: "s32 table[]". */
	if (f->is_dynamic || (f->is_array && !n)) {
		f->element_size = has_word(text, "64") || has_word(text, "long") ? 8 :
				  has_word(text, "32") || has_word(text, "int") ? 4 :
				  has_word(text, "16") || has_word(text, "short") ? 2 : 1;
	}
	return f->name && f->type ? 0 : -ENOMEM;
}

static int field_parse(struct tacho_trace_event *ev, struct str line,
		       struct tacho_trace_field *f)
{
	struct str declaration;
	uint32_t is_signed = 0;

	line = str_n(line.s + strlen("field:"), line.n - strlen("field:"));
	if (!part_number(line, "offset:", &f->offset) || !part_number(line, "size:", &f->size))
		return -EBADMSG;
	part_number(line, "signed:", &is_signed);
	f->is_signed = is_signed != 0;
	str_cut(&line, ';', &declaration);
	return field_declare(&ev->trace->arena, declaration, f);
}

int format_fields(struct tacho_trace_event *ev)
{
	struct str text = ev->format, line, name = line_after(text, "name:");
	struct buf full = { 0 };
	int err;

	buf_str(&full, ev->system);
	buf_putc(&full, ':');
	buf_str(&full, name);
	ev->name = buf_failed(&full) ? NULL : arena_text(&ev->trace->arena, buf_view(&full));
	buf_done(&full);
	ev->fields = arena_alloc(&ev->trace->arena, TRACE_FIELDS_MAX * sizeof(*ev->fields));
	if (!ev->name || !ev->fields)
		return -ENOMEM;
	while (str_cut(&text, '\n', &line) && ev->n_fields < TRACE_FIELDS_MAX) {
		line = str_trim(line);
		if (str_starts(line, "print fmt:"))
			break;
		if (!str_starts(line, "field:"))
			continue;
		err = field_parse(ev, line, &ev->fields[ev->n_fields]);
		if (err)
			return err;
		ev->n_fields++;
	}
	return 0;
}

const struct tacho_trace_field *format_find(const struct tacho_trace_event *ev, struct str name)
{
	for (size_t i = 0; i < ev->n_fields; i++)
		if (str_is(name, ev->fields[i].name))
			return &ev->fields[i];
	return NULL;
}
