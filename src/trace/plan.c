/*
 * The plan of a print format whose conversions print numbers at fixed offsets and fixed arrays of characters, which most of
 * the kernel's formats do: one step per piece, without expressions. It writes directly into the caller's memory.
 *
 * The general way (print.c) evaluates a tree per piece and copies the text twice; the plan takes a tenth of its
 * instructions for raw_syscalls:sys_enter. It is only used for data in this machine's byte order that is complete, and
 * if there is certainly enough room; everything else takes the general way, whose result is the same.
 */
#include "trace/trace.h"

#include <errno.h>

#define SHORT_TEXT 16
#define NUMBER_BYTES 24			/* at least the digits of 64 bits, a sign or 0x */

enum step_kind { STEP_TEXT, STEP_HEX, STEP_UNSIGNED, STEP_SIGNED, STEP_STRING };

struct plan_step {
	const char *text;
	char short_text[SHORT_TEXT];	/* a copy, if it fits: copied without a call */
	uint32_t n_text;
	uint32_t offset;		/* in the raw data */
	uint32_t n_string;
	uint8_t kind;
	uint8_t load_drop;		/* bits to shift out of the loaded eight bytes */
	bool load_signed;
	uint8_t cast_drop;
	bool cast_signed;
	uint8_t width_drop;
	uint8_t zero_width;		/* %08lx: pad with zeros to this many characters */
	bool alternate;			/* %#x */
};

struct plan {
	size_t n, raw_bytes, most_bytes;	/* steps; needed of the raw data; longest text */
	struct plan_step steps[];
};

/* ---- making a plan ---- */

/* Where a number is, if it is a field or an element with a constant index: false if not. */
static bool locate_number(const struct node *n, struct plan_step *s, size_t *end)
{
	const struct tacho_trace_field *f = n->field;
	size_t size, at;

	if (!f || f->is_dynamic)
		return false;
	at = f->offset;
	size = f->size;
	if (n->kind == NODE_INDEX) {
		if (n->a->kind != NODE_NUMBER || !f->element_size || n->a->number >= f->size / f->element_size)
			return false;
		size = f->element_size;
		at += size * (size_t)n->a->number;
	} else if (n->kind != NODE_FIELD || f->is_array) {
		return false;
	}
	if (!size || size > 8 || at > UINT16_MAX)
		return false;
	s->offset = (uint32_t)at;
	s->load_drop = (uint8_t)(64 - 8 * size);
	s->load_signed = f->is_signed;
	*end = max_of(*end, at + 8);	/* eight bytes are loaded */
	return true;
}

static bool plan_number(const struct tacho_trace_event *ev, const struct piece *p, struct plan_step *s, size_t *end)
{
	static const uint8_t bits[] = {
		[WIDTH_INT] = 32, [WIDTH_CHAR] = 8, [WIDTH_SHORT] = 16, [WIDTH_LONG] = 64, [WIDTH_LONG_LONG] = 64,
	};
	const struct node *n = p->arg;

	if (p->left || p->plus || p->blank || p->precision >= 0 || p->star_width || p->star_precision ||
	    (p->width > 0 && (!p->zero || p->width > 16 || p->conversion == 'd')) || (p->alternate && p->zero && p->width > 0))
		return false;
	s->kind = p->conversion == 'x' ? STEP_HEX : p->conversion == 'd' ? STEP_SIGNED : STEP_UNSIGNED;
	if (n->kind == NODE_CAST) {
		if (n->cast_size && !n->cast_pointer) {
			s->cast_drop = (uint8_t)(64 - 8 * n->cast_size);
			s->cast_signed = n->cast_signed;
		}
		n = n->a;
	}
	s->width_drop = (uint8_t)(64 - bits[p->width_kind]);
	if (p->width_kind == WIDTH_LONG && ev->trace->long_size == 4)
		s->width_drop = 32;
	s->alternate = p->alternate && p->conversion == 'x';
	s->zero_width = p->width > 0 ? (uint8_t)p->width : 0;
	return locate_number(n, s, end);
}

static bool plan_string(const struct piece *p, struct plan_step *s, size_t *end)
{
	const struct tacho_trace_field *f = p->arg->field;

	if (p->arg->kind != NODE_FIELD || !f || !f->is_array || f->is_dynamic || p->width > 0 || p->precision >= 0 ||
	    p->star_width || p->star_precision)
		return false;
	s->kind = STEP_STRING;
	s->offset = f->offset;
	s->n_string = f->size;
	*end = max_of(*end, (size_t)f->offset + f->size);
	return true;
}

static bool plan_piece(const struct tacho_trace_event *ev, const struct piece *p, struct plan_step *s, size_t *end)
{
	*s = (struct plan_step){ .text = p->text.s, .n_text = (uint32_t)p->text.n };
	if (p->text.n && p->text.n <= SHORT_TEXT)
		memcpy(s->short_text, p->text.s, p->text.n);
	switch (p->conversion) {
	case 0:
		return true;
	case 'd': case 'u': case 'x':
		return plan_number(ev, p, s, end);
	case 's':
		return plan_string(p, s, end);
	default:
		return false;
	}
}

int plan_make(struct tacho_trace_event *ev)
{
	struct plan *plan;
	bool swapped = ev->trace->big_endian != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);

	if (swapped || __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ || !ev->n_pieces)
		return 0;
	plan = arena_alloc(&ev->trace->arena, sizeof(*plan) + ev->n_pieces * sizeof(plan->steps[0]));
	if (!plan)
		return -ENOMEM;
	*plan = (struct plan){ .n = ev->n_pieces };
	for (size_t i = 0; i < plan->n; i++) {
		if (!plan_piece(ev, &ev->pieces[i], &plan->steps[i], &plan->raw_bytes))
			return 0;
		plan->most_bytes += plan->steps[i].n_text + SHORT_TEXT + NUMBER_BYTES + plan->steps[i].n_string;
	}
	ev->plan = plan;
	return 0;
}

/* ---- printing by it ---- */

static uint64_t step_number(const struct plan_step *s, const uint8_t *raw)
{
	uint64_t v;

	memcpy(&v, raw + s->offset, sizeof(v));
	v <<= s->load_drop;
	v = s->load_signed ? (uint64_t)((int64_t)v >> s->load_drop) : v >> s->load_drop;
	if (s->cast_drop) {
		v <<= s->cast_drop;
		v = s->cast_signed ? (uint64_t)((int64_t)v >> s->cast_drop) : v >> s->cast_drop;
	}
	v <<= s->width_drop;
	return s->kind == STEP_SIGNED ? (uint64_t)((int64_t)v >> s->width_drop) : v >> s->width_drop;
}

static char *put_zeros(char *at, const struct plan_step *s, unsigned n_digits)
{
	for (unsigned n = n_digits; n < s->zero_width; n++)
		*at++ = '0';
	return at;
}

static char *put_hex(char *at, const struct plan_step *s, uint64_t v)
{
	static const char digits[] = "0123456789abcdef";
	unsigned n = v ? (67 - (unsigned)__builtin_clzll(v)) / 4 : 1;

	if (s->alternate && v) {
		*at++ = '0';
		*at++ = 'x';
	}
	at = put_zeros(at, s, n);
	for (unsigned i = n; i-- > 0; v >>= 4)
		at[i] = digits[v & 15];
	return at + n;
}

static char *put_decimal(char *at, const struct plan_step *s, uint64_t v)
{
	char text[NUMBER_BYTES];
	size_t from = sizeof(text), n;

	if (s->kind == STEP_SIGNED && (int64_t)v < 0) {
		*at++ = '-';
		v = 0 - v;
	}
	do {
		text[--from] = (char)('0' + v % 10);
		v /= 10;
	} while (v);
	n = sizeof(text) - from;
	at = put_zeros(at, s, (unsigned)n);
	memcpy(at, text + from, n);
	return at + n;
}

ptrdiff_t plan_print(const struct plan *plan, const uint8_t *raw, size_t n, char *out, size_t room)
{
	char *at = out;

	if (n < plan->raw_bytes || room <= plan->most_bytes)
		return -EAGAIN;
	for (const struct plan_step *s = plan->steps, *end = s + plan->n; s < end; s++) {
		size_t length;

		if (s->n_text <= SHORT_TEXT)
			memcpy(at, s->short_text, SHORT_TEXT);	/* what is too much is overwritten */
		else
			memcpy(at, s->text, s->n_text);
		at += s->n_text;
		switch (s->kind) {
		case STEP_TEXT:
			break;
		case STEP_STRING:
			length = strnlen((const char *)raw + s->offset, s->n_string);
			memcpy(at, raw + s->offset, length);
			at += length;
			break;
		case STEP_HEX:
			at = put_hex(at, s, step_number(s, raw));
			break;
		default:
			at = put_decimal(at, s, step_number(s, raw));
			break;
		}
	}
	*at = '\0';
	return at - out;
}
