/*
 * Tracepoint formats from a stranger, and raw bytes printed by them:
 *
 *	0  flags: 1 raw bytes of the other byte order, 2 the rest is one format file's text
 *	1  how many raw bytes
 *	2  the raw bytes, then a TRACING_DATA payload or a format
 *
 * Every known event is printed, as a whole and field by field, into rooms of several sizes.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <tacho/trace.h>

#include "base/buf.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *function_at(void *arg, uint64_t address, uint64_t *offset)
{
	(void)arg;
	*offset = address & 0xf;
	return address & 0x10 ? "function" : NULL;
}

static void put_number(struct buf *b, uint64_t v, unsigned bytes)
{
	for (unsigned i = 0; i < bytes; i++)
		buf_putc(b, (char)(v >> 8 * i));
}

/* A payload with this one format, which has number 7 wherever it says none. */
static void wrap(struct buf *b, const uint8_t *text, size_t n)
{
	buf_put(b, "\x17\x08\x44tracing" "0.6\0" "\0\x08", 16);
	put_number(b, 4096, 4);
	buf_put(b, "header_page\0", 12), put_number(b, 0, 8);
	buf_put(b, "header_event\0", 13), put_number(b, 0, 8);
	put_number(b, 0, 4);
	put_number(b, 1, 4);
	buf_put(b, "sys\0", 4), put_number(b, 1, 4);
	put_number(b, n, 8), buf_put(b, text, n);
	put_number(b, 0, 4);
	put_number(b, 16, 4), buf_puts(b, "0x1000 : \"said\"\n");
}

static void check_length(ptrdiff_t n, const char *text, size_t room)
{
	if (n >= 0 && room && strnlen(text, room) == room)
		abort();	/* no NUL */
}

static void print_event(const struct tacho_trace_event *ev, const uint8_t *raw, size_t n, bool swapped)
{
	struct tacho_trace_opts opts = { .size = sizeof(opts), .swapped = swapped, .function = function_at };
	char text[300];

	for (size_t room = 0; room <= sizeof(text); room += 100)
		check_length(tacho_trace_print(ev, raw, n, &opts, text, room), text, room);
	for (size_t i = 0; i < tacho_trace_n_fields(ev); i++) {
		const struct tacho_trace_field *f = tacho_trace_field(ev, i);

		if (!f->name || !f->type)
			abort();
		check_length(tacho_trace_print_field(ev, i, raw, n, &opts, text, sizeof(text)), text,
			     sizeof(text));
	}
	if (!tacho_trace_name(ev))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct buf blob = { 0 };
	struct tacho_trace *t;
	uint8_t *raw;
	size_t n;

	if (size < 2 || size - 2 < data[1])
		return 0;
	n = data[1];
	raw = malloc(n ? n : 1);	/* of just that size, for the sanitizers */
	if (!raw)
		return 0;
	memcpy(raw, data + 2, n);
	if (data[0] & 2)
		wrap(&blob, data + 2 + n, size - 2 - n);
	else
		buf_put(&blob, data + 2 + n, size - 2 - n);
	if (tacho_trace_new(&t, blob.bytes, blob.n, NULL) == 0) {
		for (uint64_t id = 0; id < 400; id++) {
			const struct tacho_trace_event *ev = tacho_trace_find(t, id);

			if (ev)
				print_event(ev, raw, n, data[0] & 1);
		}
		tacho_trace_free(t);
	}
	buf_done(&blob);
	free(raw);
	return 0;
}
