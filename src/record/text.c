/*
 * Prints a record as lines "field: value". Nested objects and lists are indented; an object in a list
 * is printed on one line, after a dash:
 *
 *	record: PERF_RECORD_SAMPLE
 *	callchain:
 *	  - context: kernel, marker: 0xffffffffffffff80
 *	  - 0xffffffff81000000
 */
#include "record/dump.h"

#include "base/buf.h"

struct text_emitter {
	struct buf *out;
	unsigned depth;			/* number of open objects and lists */
	bool row;			/* inside an object that is printed on one line */
	bool row_started;
};

/* Prints everything before the value. */
static void text_key(struct text_emitter *t, const char *key)
{
	if (t->row) {
		if (t->row_started)
			buf_puts(t->out, ", ");
		t->row_started = true;
	} else {
		buf_pad(t->out, ' ', 2 * (t->depth ? t->depth - 1 : 0));
		if (!key)
			buf_puts(t->out, "- ");
	}
	if (key) {
		buf_puts(t->out, key);
		buf_puts(t->out, ": ");
	}
}

static void text_end(struct text_emitter *t)
{
	if (!t->row)
		buf_putc(t->out, '\n');
}

static void text_open(void *to, const char *key, char kind)
{
	struct text_emitter *t = to;

	if (key) {
		buf_pad(t->out, ' ', 2 * (t->depth ? t->depth - 1 : 0));
		buf_puts(t->out, key);
		buf_puts(t->out, ":\n");
	} else if (t->depth > 0 && kind == '{') {
		text_key(t, NULL);
		t->row = true;
		t->row_started = false;
	}
	t->depth++;
}

static void text_close(void *to)
{
	struct text_emitter *t = to;

	t->depth--;
	if (t->row) {
		t->row = false;
		text_end(t);
	}
}

static void text_number(void *to, const char *key, uint64_t v)
{
	struct text_emitter *t = to;

	text_key(t, key);
	buf_u64(t->out, v);
	text_end(t);
}

static void text_address(void *to, const char *key, uint64_t v)
{
	struct text_emitter *t = to;

	text_key(t, key);
	buf_printf(t->out, "0x%llx", (unsigned long long)v);
	text_end(t);
}

/* Escapes tabs and what must not be printed: names come from files and may be printed on a terminal. */
static void text_text(void *to, const char *key, const char *s)
{
	struct text_emitter *t = to;
	struct str rest = str_of(s);

	text_key(t, key);
	while (rest.n) {
		size_t n = rest.s[0] == '\t' ? 0 : str_printable_len(rest);

		if (n)
			buf_put(t->out, rest.s, n);
		else
			buf_printf(t->out, "\\x%02x", (unsigned char)rest.s[0]);
		n = max_of(n, (size_t)1);
		rest = str_n(rest.s + n, rest.n - n);
	}
	text_end(t);
}

static void text_names(void *to, const char *key, const char *const *names, size_t n)
{
	struct text_emitter *t = to;

	text_key(t, key);
	for (size_t i = 0; i < n; i++) {
		if (i)
			buf_putc(t->out, '|');
		buf_puts(t->out, names[i]);
	}
	if (!n)
		buf_putc(t->out, '-');
	text_end(t);
}

static void text_bytes(void *to, const char *key, const void *bytes, size_t n)
{
	struct text_emitter *t = to;

	text_key(t, key);
	dump_hex(t->out, bytes, n);
	text_end(t);
}

char *tacho_record_text(const struct tacho_record *rec, const struct tacho_layout *lay)
{
	static const struct dump_ops ops = { text_open,	text_close, text_number, text_address,
					     text_text, text_names, text_bytes };
	scoped(buf_done) struct buf out = { 0 };
	struct text_emitter t = { .out = &out };
	struct dump d = { &ops, &t };

	if (dump_record(&d, rec, lay) < 0)
		return NULL;
	return buf_take(&out);
}
