/*
 * Reads the feature TRACING_DATA: a copy of tracefs' format files, in the layout that trace-cmd
 * introduced.
 *
 *	17 08 44 "tracing" "0.6" NUL, byte order, size of long, u32 page size
 *	"header_page" NUL, u64 size, text; "header_event" NUL, u64 size, text
 *	u32 count of ftrace's own formats, each u64 size and text
 *	u32 count of systems, each: name NUL, u32 count, formats
 *	u32 size and text of kallsyms; u32 size and text of the printk strings
 *
 * Only the IDs of the events are parsed at first; the rest of a format is parsed when the event is looked up.
 */
#include "trace/trace.h"

#include <errno.h>

#include "base/error.h"
#include "base/num.h"

struct tracing_reader {
	struct str left;
	bool big_endian, bad;
};

static struct str take_bytes(struct tracing_reader *r, uint64_t n)
{
	struct str part = { 0 };

	if (r->bad || n > r->left.n) {
		r->bad = true;
		return part;
	}
	part = str_n(r->left.s, (size_t)n);
	r->left = str_n(r->left.s + n, r->left.n - (size_t)n);
	return part;
}

static uint64_t take_number(struct tracing_reader *r, unsigned size)
{
	struct str bytes = take_bytes(r, size);
	uint64_t v = 0;

	for (unsigned i = 0; i < bytes.n; i++) {
		unsigned at = r->big_endian ? i : size - 1 - i;

		v = v << 8 | (uint8_t)bytes.s[at];
	}
	return v;
}

static struct str take_text(struct tracing_reader *r)		/* up to its NUL */
{
	const char *end = r->bad ? NULL : memchr(r->left.s, 0, r->left.n);
	struct str text;

	if (!end) {
		r->bad = true;
		return (struct str){ 0 };
	}
	text = take_bytes(r, (uint64_t)(end - r->left.s));
	take_bytes(r, 1);
	return text;
}

static int add_event(struct tacho_trace *t, struct str system, struct str format)
{
	struct tacho_trace_event *ev;
	uint64_t id;

	if (format_id(format, &id))
		return 0;		/* not a format; no sample can refer to it */
	ev = vec_add(&t->events);
	if (!ev)
		return -ENOMEM;
	*ev = (struct tacho_trace_event){ .trace = t, .id = id, .system = system, .format = format };
	return 0;
}

static int read_formats(struct tacho_trace *t, struct tracing_reader *r, struct str system)
{
	uint64_t n = take_number(r, 4);
	int err = 0;

	while (n-- && !r->bad && !err) {
		struct str format = take_bytes(r, take_number(r, 8));

		if (!r->bad)
			err = add_event(t, system, format);
	}
	return err;
}

/* Parses lines like   0xffffffff82a1b2c3 : "Start scheduler-tick"   */
static int read_printks(struct tacho_trace *t, struct str text)
{
	struct str line, address;
	struct printk *p;

	while (str_cut(&text, '\n', &line)) {
		uint64_t at;

		if (!str_cut(&line, ':', &address) || num_hex(str_trim(address), &at))
			continue;
		line = str_trim(line);
		if (line.n < 2 || line.s[0] != '"')
			continue;
		p = vec_add(&t->printks);
		if (!p)
			return -ENOMEM;
		p->address = at;
		p->text = str_n(line.s + 1, line.n - 1);
		if (p->text.n && p->text.s[p->text.n - 1] == '"')
			p->text.n--;
		if (str_ends(p->text, "\\n"))
			p->text.n -= 2;
	}
	return 0;
}

static int by_id(const void *a, const void *b)
{
	const struct tacho_trace_event *x = a, *y = b;

	return x->id < y->id ? -1 : x->id > y->id;
}

static int by_address(const void *a, const void *b)
{
	const struct printk *x = a, *y = b;

	return x->address < y->address ? -1 : x->address > y->address;
}

static int read_all(struct tacho_trace *t, struct tracing_reader *r)
{
	static const char magic[] = "\x17\x08\x44tracing";
	struct str head = take_bytes(r, sizeof(magic) - 1);
	uint64_t n;
	int err;

	if (r->bad || memcmp(head.s, magic, head.n) != 0)
		return -EBADMSG;
	take_text(r);					/* version */
	r->big_endian = t->big_endian = take_number(r, 1) != 0;
	t->long_size = (uint8_t)take_number(r, 1);
	take_number(r, 4);				/* page size */
	take_text(r);
	take_bytes(r, take_number(r, 8));		/* header_page */
	take_text(r);
	take_bytes(r, take_number(r, 8));		/* header_event */
	err = read_formats(t, r, STR_LIT("ftrace"));
	for (n = take_number(r, 4); n && !r->bad && !err; n--)
		err = read_formats(t, r, take_text(r));
	if (err || r->bad)
		return err ? err : -EBADMSG;
	take_bytes(r, take_number(r, 4));		/* kallsyms */
	return read_printks(t, take_bytes(r, take_number(r, 4)));
}

int tacho_trace_new(struct tacho_trace **out, const void *blob, size_t n, struct tacho_error *e)
{
	struct tacho_trace *t = calloc(1, sizeof(*t));
	struct tracing_reader r = { 0 };
	int err;

	if (!t)
		return error_nomem(e);
	t->blob = malloc(n + 1);
	if (!t->blob) {
		free(t);
		return error_nomem(e);
	}
	if (n)
		memcpy(t->blob, blob, n);
	r.left = str_n(t->blob, n);
	err = read_all(t, &r);
	if (err) {
		tacho_trace_free(t);
		return err == -ENOMEM ? error_nomem(e) :
		       error_set(e, err, "the tracepoint formats are damaged at byte %zu of %zu",
				 n - r.left.n, n);
	}
	if (t->events.n)
		qsort(t->events.v, t->events.n, sizeof(*t->events.v), by_id);
	if (t->printks.n)
		qsort(t->printks.v, t->printks.n, sizeof(*t->printks.v), by_address);
	*out = t;
	return 0;
}

void tacho_trace_free(struct tacho_trace *t)
{
	if (!t)
		return;
	vec_done(&t->events);
	vec_done(&t->printks);
	arena_done(&t->arena);
	buf_done(&t->text);
	free(t->blob);
	free(t);
}

struct str printk_at(const struct tacho_trace *t, uint64_t address)
{
	struct printk key = { .address = address }, *hit = NULL;

	if (t->printks.n)
		hit = bsearch(&key, t->printks.v, t->printks.n, sizeof(key), by_address);
	return hit ? hit->text : (struct str){ 0 };
}

const struct tacho_trace_event *tacho_trace_find(struct tacho_trace *t, uint64_t id)
{
	struct tacho_trace_event key = { .id = id }, *ev = NULL;

	if (t->events.n)
		ev = bsearch(&key, t->events.v, t->events.n, sizeof(key), by_id);
	if (!ev)
		return NULL;
	if (!ev->parsed) {
		int err = format_fields(ev);

		ev->parsed = true;
		ev->damaged = err != 0;
		if (!err)
			err = pieces_parse(ev);
		ev->understood = err == 0;
		if (err == 0)
			err = plan_make(ev);
		t->out_of_memory |= err == -ENOMEM;
	}
	return ev->damaged ? NULL : ev;
}

const struct tacho_trace_event *tacho_trace_find_name(struct tacho_trace *t, const char *name)
{
	for (size_t i = 0; i < t->events.n; i++) {
		const struct tacho_trace_event *ev = tacho_trace_find(t, t->events.v[i].id);

		if (ev && !strcmp(ev->name, name))
			return ev;
	}
	return NULL;
}

int tacho_trace_failed(const struct tacho_trace *t)
{
	return t && t->out_of_memory ? -ENOMEM : 0;
}

const char *tacho_trace_print_format(const struct tacho_trace_event *ev, size_t *n)
{
	struct str text = format_print(ev->format);

	*n = text.n;
	return text.s;
}

const char *tacho_trace_name(const struct tacho_trace_event *ev)
{
	return ev->name;
}

size_t tacho_trace_n_fields(const struct tacho_trace_event *ev)
{
	return ev->n_fields;
}

const struct tacho_trace_field *tacho_trace_field(const struct tacho_trace_event *ev, size_t i)
{
	return i < ev->n_fields ? &ev->fields[i] : NULL;
}
