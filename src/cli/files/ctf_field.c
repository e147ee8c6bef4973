/*
 * The fields of a sample: PERF_SAMPLE_* fields and the fields of a tracepoint's format. Their
 * description in the metadata and their encoding come from the same tables. Integers are written with
 * 32 or 64 bits.
 */
#include "cli/files/ctf.h"

#include <ctype.h>
#include <stdio.h>

const char *const ctf_byte_order = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? "le" : "be";

enum { BPF_OUTPUT_CONFIG = 10 };

static void put32(struct buf *b, uint32_t v) { buf_put(b, &v, sizeof(v)); }
static void put64(struct buf *b, uint64_t v) { buf_put(b, &v, sizeof(v)); }

/* ---- text ---- */

void ctf_quote(struct buf *out, const char *text)
{
	struct str rest = str_of(text);

	buf_putc(out, '"');
	while (rest.n) {
		size_t plain = strcspn(rest.s, "\"\\\t");

		buf_text(out, str_n(rest.s, plain));
		if (plain < rest.n && rest.s[plain] == '\t')
			buf_putc(out, '?');
		else if (plain < rest.n)
			buf_printf(out, "\\%c", rest.s[plain]);
		plain += plain < rest.n;
		rest = str_n(rest.s + plain, rest.n - plain);
	}
	buf_putc(out, '"');
}

static bool is_keyword(const char *name)
{
	static const char *const keywords[] = {
		"align", "callsite", "const", "char", "clock", "double", "enum", "env", "event",
		"floating_point", "float", "integer", "int", "long", "short", "signed", "stream", "string",
		"struct", "trace", "typealias", "typedef", "unsigned", "variant", "void",
	};

	for (size_t i = 0; i < countof(keywords); i++)
		if (strcmp(keywords[i], name) == 0)
			return true;
	return false;
}

/* Writes a field name. Readers remove one leading underscore, so one is put before names that would
 * otherwise be invalid (keywords, digits) or lose their own. */
static void put_name(struct buf *out, const char *name)
{
	if (name[0] == '_' || isdigit((unsigned char)name[0]) || is_keyword(name))
		buf_putc(out, '_');
	for (; *name; name++)
		buf_putc(out, isalnum((unsigned char)*name) ? *name : '_');
}

static void put_type(struct buf *out, unsigned bits, bool is_signed, bool hex)
{
	buf_printf(out, "\t\tinteger { size = %u; align = 8; signed = %s; encoding = none; base = %s; "
		   "byte_order = %s; } ", bits, is_signed ? "true" : "false",
		   hex ? "hexadecimal" : "decimal", ctf_byte_order);
}

void ctf_describe_int(struct buf *out, unsigned bits, bool is_signed, bool hex, const char *name)
{
	put_type(out, bits, is_signed, hex);
	put_name(out, name);
	buf_puts(out, ";\n");
}

void ctf_describe_string(struct buf *out, const char *name)
{
	buf_puts(out, "\t\tstring { encoding = UTF8; } ");
	put_name(out, name);
	buf_puts(out, ";\n");
}

void ctf_put_string(struct buf *out, const void *bytes, size_t n)
{
	const unsigned char *at = bytes;

	for (size_t i = 0; i < n && at[i]; i++) {
		if (isprint(at[i]))
			buf_putc(out, (char)at[i]);
		else
			buf_printf(out, "\\x%02x", at[i]);
	}
	buf_putc(out, '\0');
}

/* ---- fields of PERF_SAMPLE_* ---- */

static const struct ctf_sample_field {
	const char *name;
	uint64_t sample_type;		/* samples need one of these bits */
	unsigned bits;
	bool is_signed, hex;
	size_t offset;
} scalars[] = {
#define AT(field) offsetof(struct tacho_sample, field)
	{ "perf_ip", PERF_SAMPLE_IP, 64, false, true, AT(ip) },
	{ "perf_tid", PERF_SAMPLE_TID, 32, true, false, AT(tid) },
	{ "perf_pid", PERF_SAMPLE_TID, 32, true, false, AT(pid) },
	{ "perf_id", PERF_SAMPLE_ID | PERF_SAMPLE_IDENTIFIER, 64, false, false, AT(id) },
	{ "perf_stream_id", PERF_SAMPLE_STREAM_ID, 64, false, false, AT(stream_id) },
	{ "perf_period", PERF_SAMPLE_PERIOD, 64, false, false, AT(period) },
	{ "perf_weight", PERF_SAMPLE_WEIGHT, 64, false, false, AT(weight) },
	{ "perf_data_src", PERF_SAMPLE_DATA_SRC, 64, false, false, AT(data_src) },
	{ "perf_transaction", PERF_SAMPLE_TRANSACTION, 64, false, false, AT(transaction) },
};

static bool is_bpf_output(const struct convert_event *ev)
{
	return ev->attr->type == PERF_TYPE_SOFTWARE && ev->attr->config == BPF_OUTPUT_CONFIG;
}

/* ---- fields of tracepoints ---- */

enum ctf_kind { KIND_INT, KIND_STRING, KIND_ARRAY, KIND_SEQUENCE };

struct ctf_type {
	enum ctf_kind kind;
	unsigned size;			/* bytes per element in the raw data: 1, 2, 4, 8 */
	unsigned n;			/* number of array elements */
	unsigned bits;			/* bits per element as written */
	bool is_signed, hex;
};

static struct ctf_type ctf_type_of(const struct tacho_trace_field *f)
{
	unsigned size = f->is_array || f->is_dynamic ? f->element_size : f->size;
	struct ctf_type s = { .is_signed = f->is_signed };

	if (f->is_string && !f->is_pointer) {
		s.kind = KIND_STRING;
		return s;
	}
	s.size = size == 2 || size == 4 || size == 8 ? size : 1;
	s.n = f->size / s.size;
	s.kind = f->is_dynamic ? KIND_SEQUENCE : f->is_array || s.n != 1 ? KIND_ARRAY : KIND_INT;
	s.bits = s.size == 8 ? 64 : 32;
	/* unsigned longs are usually addresses */
	s.hex = !f->is_signed && (f->is_pointer || strstr(f->type, "long"));
	return s;
}

/* Counts the earlier fields with this name. Tracepoint formats allow duplicate names, CTF does not. */
static unsigned n_same_name_before(const struct tacho_trace_event *ev, size_t i)
{
	unsigned n = 0;

	for (size_t k = 0; k < i; k++)
		n += strcmp(tacho_trace_field(ev, k)->name, tacho_trace_field(ev, i)->name) == 0;
	return n;
}

static void describe_field(struct buf *out, const struct tacho_trace_event *ev, size_t i)
{
	const struct tacho_trace_field *f = tacho_trace_field(ev, i);
	struct ctf_type s = ctf_type_of(f);
	unsigned duplicates = n_same_name_before(ev, i);
	char name[160];

	snprintf(name, sizeof(name), duplicates ? "%s_dupl_%u" : "%s", f->name, duplicates);
	if (s.kind == KIND_STRING) {
		ctf_describe_string(out, name);
		return;
	}
	if (s.kind == KIND_SEQUENCE) {
		put_type(out, 32, false, false);
		buf_puts(out, "__length_of_");
		put_name(out, name);
		buf_puts(out, ";\n");
	}
	put_type(out, s.bits, s.is_signed, s.hex);
	put_name(out, name);
	if (s.kind == KIND_ARRAY)
		buf_printf(out, "[%u]", s.n);
	if (s.kind == KIND_SEQUENCE) {
		buf_puts(out, "[__length_of_");
		put_name(out, name);
		buf_putc(out, ']');
	}
	buf_puts(out, ";\n");
}

void ctf_describe_sample(struct buf *out, const struct convert_event *ev)
{
	uint64_t type = ev->file->layout.sample_type;

	for (size_t i = 0; i < countof(scalars); i++)
		if (type & scalars[i].sample_type)
			ctf_describe_int(out, scalars[i].bits, scalars[i].is_signed, scalars[i].hex,
					 scalars[i].name);
	if (type & PERF_SAMPLE_CALLCHAIN) {
		ctf_describe_int(out, 32, false, false, "perf_callchain_size");
		ctf_describe_int(out, 64, false, true, "perf_callchain");
		out->n -= 2;
		buf_puts(out, "[perf_callchain_size];\n");
	}
	for (size_t i = 0; ev->trace && i < tacho_trace_n_fields(ev->trace); i++)
		describe_field(out, ev->trace, i);
	if (is_bpf_output(ev)) {
		ctf_describe_int(out, 32, false, false, "raw_len");
		ctf_describe_int(out, 32, false, true, "raw_data");
		out->n -= 2;
		buf_puts(out, "[raw_len];\n");
	}
}

/* ---- values ---- */

struct raw_data {
	const uint8_t *at;
	size_t n;
	bool swap;
};

/* Reads an integer of `size` bytes; 0 if the raw data is too short. */
static uint64_t get_int(struct raw_data r, size_t offset, unsigned size, bool is_signed)
{
	uint64_t v = 0;

	if (offset > r.n || size > r.n - offset)
		return 0;
	for (unsigned i = 0; i < size; i++) {
		bool little = (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__) != r.swap;

		v |= (uint64_t)r.at[offset + i] << 8 * (little ? i : size - 1 - i);
	}
	if (is_signed && size < 8 && v >> (8 * size - 1) & 1)
		v |= UINT64_MAX << 8 * size;
	return v;
}

static void put_int(struct buf *out, unsigned bits, uint64_t v)
{
	if (bits == 32)
		put32(out, (uint32_t)v);
	else
		put64(out, v);
}

/* Finds the bytes of a field. The bytes of a dynamic field (__data_loc, __rel_loc) follow the fixed part. */
static struct raw_data bytes_of(struct raw_data r, const struct tacho_trace_field *f)
{
	size_t offset = f->offset, n = f->size;

	if (f->is_dynamic) {
		uint64_t location = get_int(r, offset, 4, false);

		n = location >> 16;
		offset = (location & 0xffff) + (f->is_relative ? offset + f->size : 0);
	}
	if (offset > r.n || n > r.n - offset)
		return (struct raw_data){ r.at, 0, r.swap };
	return (struct raw_data){ r.at + offset, n, r.swap };
}

static void put_field(struct buf *out, struct raw_data raw, const struct tacho_trace_field *f)
{
	struct ctf_type s = ctf_type_of(f);
	struct raw_data own = bytes_of(raw, f);
	size_t n = s.kind == KIND_SEQUENCE ? own.n / s.size : s.n;

	if (s.kind == KIND_STRING) {
		ctf_put_string(out, own.at, own.n);
		return;
	}
	if (s.kind == KIND_SEQUENCE)
		put32(out, (uint32_t)n);
	for (size_t i = 0; i < n; i++)
		put_int(out, s.bits, get_int(own, i * s.size, s.size, s.is_signed));
}

static void put_bpf_output(struct buf *out, struct raw_data raw)
{
	size_t n = raw.n / 4;

	put32(out, (uint32_t)n);
	for (size_t i = 0; i < n; i++)
		put32(out, (uint32_t)get_int(raw, 4 * i, 4, false));
}

void ctf_put_sample(struct buf *out, const struct convert_event *ev, const struct tacho_sample *s,
		    bool swapped)
{
	struct raw_data raw = { s->raw, s->raw ? s->n_raw : 0, swapped };

	for (size_t i = 0; i < countof(scalars); i++)
		if (ev->file->layout.sample_type & scalars[i].sample_type)
			buf_put(out, (const char *)s + scalars[i].offset, scalars[i].bits / 8);
	if (ev->file->layout.sample_type & PERF_SAMPLE_CALLCHAIN) {
		put32(out, (uint32_t)s->chain.n);
		buf_put(out, s->chain.v, s->chain.n * sizeof(*s->chain.v));
	}
	for (size_t i = 0; ev->trace && i < tacho_trace_n_fields(ev->trace); i++)
		put_field(out, raw, tacho_trace_field(ev->trace, i));
	if (is_bpf_output(ev))
		put_bpf_output(out, raw);
}
