/*
 * Prints a record as the kernel would, piece by piece. It does not use printf(), because there may be millions of
 * records. If the print format is not supported, every field is printed as name=value.
 */
#include "trace/trace.h"

#include <ctype.h>
#include <errno.h>

static const char digits[] = "0123456789abcdef";

void print_hex(struct buf *out, uint64_t value)
{
	char text[16];
	size_t at = sizeof(text);

	do {
		text[--at] = digits[value & 15];
		value >>= 4;
	} while (value);
	buf_put(out, text + at, sizeof(text) - at);
}

/* ---- numbers ---- */

/* Truncates or sign-extends `value` to the width of the conversion (%hhd, %d, %ld). */
static uint64_t to_width(const struct raw_view *v, const struct piece *p, uint64_t value)
{
	static const uint8_t bits[] = {
		[WIDTH_INT] = 32, [WIDTH_CHAR] = 8, [WIDTH_SHORT] = 16, [WIDTH_LONG] = 64,
		[WIDTH_LONG_LONG] = 64,
	};
	unsigned drop = 64u - bits[p->width_kind];

	if (p->width_kind == WIDTH_LONG && v->ev->trace->long_size == 4)
		drop = 32;
	if (p->conversion == 'd')
		return (uint64_t)((int64_t)(value << drop) >> drop);
	return value << drop >> drop;
}

static size_t number_text(char text[24], const struct piece *p, uint64_t value)
{
	unsigned base = p->conversion == 'x' || p->conversion == 'X' ? 16 : p->conversion == 'o' ? 8 : 10;
	size_t at = 24;

	do {
		char c = digits[value % base];

		text[--at] = p->conversion == 'X' ? (char)toupper((unsigned char)c) : c;
		value /= base;
	} while (value);
	return at;
}

static void print_number(const struct raw_view *v, const struct piece *p, int width, int precision,
			 uint64_t value)
{
	char text[24], sign[4];
	size_t at, n, n_sign = 0, zeros = 0, pad = 0;

	value = to_width(v, p, value);
	if (p->conversion == 'd' && (int64_t)value < 0) {
		sign[n_sign++] = '-';
		value = 0 - value;
	} else if (p->conversion == 'd' && (p->plus || p->blank)) {
		sign[n_sign++] = p->plus ? '+' : ' ';
	} else if (p->alternate && value && p->conversion != 'u') {
		sign[n_sign++] = '0';
		if (p->conversion != 'o')
			sign[n_sign++] = p->conversion;
	}
	at = number_text(text, p, value);
	n = sizeof(text) - at;
	if (precision > 0 && (size_t)precision > n)
		zeros = (size_t)precision - n;
	if (width > 0 && (size_t)width > n + n_sign + zeros) {
		pad = (size_t)width - n - n_sign - zeros;
		if (p->zero && !p->left && precision < 0) {
			zeros += pad;
			pad = 0;
		}
	}
	if (!p->left)
		buf_pad(v->out, ' ', pad);
	buf_put(v->out, sign, n_sign);
	buf_pad(v->out, '0', zeros);
	buf_put(v->out, text + at, n);
	if (p->left)
		buf_pad(v->out, ' ', pad);
}

/* ---- strings ---- */

static void put_text(struct buf *out, struct str s, int precision)
{
	size_t n = strnlen(s.s, s.n);

	if (precision >= 0)
		n = min_of(n, (size_t)precision);
	buf_put(out, s.s, n);
}

/* Prints a string of which the record has only the address; it is known if it is in the kernel's printk
 * list. */
static void put_kernel_string(const struct raw_view *v, uint64_t address, int precision)
{
	struct str text = printk_at(v->ev->trace, address);

	if (text.s) {
		put_text(v->out, text, precision);
		return;
	}
	print_hex(v->out, address);
}

void print_string(const struct raw_view *v, const struct node *n, int precision)
{
	switch (n->kind) {
	case NODE_STRING:
		put_text(v->out, n->text, precision);
		break;
	case NODE_CHOICE:
		print_string(v, eval(v, n->a).v ? n->b : n->c, precision);
		break;
	case NODE_FLAGS:
		print_flags(v, n);
		break;
	case NODE_SYMBOLIC:
		print_symbolic(v, n);
		break;
	case NODE_HEX:
		print_bytes(v, n);
		break;
	case NODE_LIST:
		print_list(v, n);
		break;
	case NODE_BITMASK:
		print_bitmask(v, view_field(v, n->field));
		break;
	case NODE_CAST:
		print_string(v, n->a, precision);
		break;
	case NODE_GET_STR:
	case NODE_GET_ARRAY:
		put_text(v->out, view_field(v, n->field), precision);
		break;
	case NODE_FIELD:
		if (n->field->is_array) {
			put_text(v->out, view_field(v, n->field), precision);
			break;
		}
		/* fall through */
	default:
		put_kernel_string(v, eval(v, n).v, precision);
		break;
	}
}

static void print_padded(const struct raw_view *v, const struct piece *p, int width, int precision)
{
	struct buf text = { 0 };
	struct raw_view inner = *v;
	size_t pad;

	inner.out = &text;
	print_string(&inner, p->arg, precision);
	pad = (size_t)width > text.n ? (size_t)width - text.n : 0;
	if (!p->left)
		buf_pad(v->out, ' ', pad);
	buf_put(v->out, text.bytes, text.n);
	if (p->left)
		buf_pad(v->out, ' ', pad);
	v->out->bad |= buf_failed(&text);
	buf_done(&text);
}

/* ---- pieces ---- */

static void print_piece(const struct raw_view *v, const struct piece *p)
{
	int width = p->star_width ? (int)eval(v, p->star_width).v : p->width;
	int precision = p->star_precision ? (int)eval(v, p->star_precision).v : p->precision;

	width = min_of(width, 4096);
	precision = min_of(precision, 4096);
	switch (p->conversion) {
	case 0:
		break;
	case 's':
		if (width > 0)
			print_padded(v, p, width, precision);
		else
			print_string(v, p->arg, precision);
		break;
	case 'c':
		buf_putc(v->out, (char)eval(v, p->arg).v);
		break;
	case 'p':
		print_pointer(v, p);
		break;
	default:
		print_number(v, p, width, precision, eval(v, p->arg).v);
		break;
	}
}

/* ---- fields ---- */

static bool all_printable(struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		if (!isprint((unsigned char)s.s[i]) && !isspace((unsigned char)s.s[i]))
			return false;
	return true;
}

static void print_array(const struct raw_view *v, const struct tacho_trace_field *f, struct str bytes)
{
	size_t size = f->element_size ? f->element_size : 1;
	struct str text = str_n(bytes.s, strnlen(bytes.s, bytes.n));

	if (f->is_string && all_printable(text)) {
		buf_str(v->out, text);
		return;
	}
	buf_puts(v->out, "ARRAY[");
	for (size_t i = 0; i < bytes.n; i += size) {
		uint64_t at = (uint64_t)((const uint8_t *)bytes.s - v->raw) + i;

		if (i)
			buf_puts(v->out, ", ");
		if (size == 1)
			buf_put(v->out, (char[]){ digits[(uint8_t)bytes.s[i] >> 4],
						  digits[bytes.s[i] & 15] }, 2);
		else
			print_hex(v->out, view_number(v, at, size, false));
	}
	buf_putc(v->out, ']');
}

void print_field(const struct raw_view *v, const struct tacho_trace_field *f)
{
	uint64_t number;

	if (f->is_array) {
		print_array(v, f, view_field(v, f));
		return;
	}
	number = view_number(v, f->offset, f->size, f->is_signed);
	if (f->is_pointer) {
		struct str text = printk_at(v->ev->trace, number);

		if (text.s) {
			buf_str(v->out, text);
			return;
		}
		buf_puts(v->out, "0x");
		print_hex(v->out, number);
		return;
	}
	if (f->is_signed && (int64_t)number < 0) {
		buf_putc(v->out, '-');
		number = 0 - number;
	}
	buf_u64(v->out, number);
}

static void print_fields(const struct raw_view *v)
{
	bool any = false;

	for (size_t i = 0; i < v->ev->n_fields; i++) {
		const struct tacho_trace_field *f = &v->ev->fields[i];

		if (str_starts(str_of(f->name), "common_"))
			continue;
		if (any)
			buf_putc(v->out, ' ');
		any = true;
		buf_puts(v->out, f->name);
		buf_putc(v->out, '=');
		print_field(v, f);
	}
}

/* ---- output to the caller's buffer ---- */

static ptrdiff_t copy_out(struct tacho_trace *t, char *out, size_t room)
{
	const struct buf *b = &t->text;

	if (buf_failed(b)) {
		t->out_of_memory = true;
		return -ENOMEM;
	}
	if (room) {
		size_t n = min_of(b->n, room - 1);

		if (n)
			memcpy(out, b->bytes, n);
		out[n] = 0;
	}
	return (ptrdiff_t)b->n;
}

/* The text is built in one buffer that is reused, so there is no allocation per record. */
static struct raw_view view_of(const struct tacho_trace_event *ev, const void *raw, size_t n,
			       const struct tacho_trace_opts *opts)
{
	buf_clear(&ev->trace->text);
	return (struct raw_view){ .ev = ev, .raw = raw, .n = n, .opts = opts, .out = &ev->trace->text,
				  .swap = opts && opts->swapped };
}

ptrdiff_t tacho_trace_print(const struct tacho_trace_event *ev, const void *raw, size_t n,
			    const struct tacho_trace_opts *opts, char *out, size_t room)
{
	struct raw_view v;

	if (ev->plan && !(opts && opts->swapped)) {
		ptrdiff_t length = plan_print(ev->plan, raw, n, out, room);

		if (length != -EAGAIN)
			return length;
	}
	v = view_of(ev, raw, n, opts);
	if (!ev->understood)
		print_fields(&v);
	for (size_t i = 0; i < ev->n_pieces; i++) {
		buf_str(v.out, ev->pieces[i].text);
		print_piece(&v, &ev->pieces[i]);
	}
	return copy_out(ev->trace, out, room);
}

ptrdiff_t tacho_trace_print_field(const struct tacho_trace_event *ev, size_t field, const void *raw,
				  size_t n, const struct tacho_trace_opts *opts, char *out,
				  size_t room)
{
	struct raw_view v = view_of(ev, raw, n, opts);

	if (field < ev->n_fields)
		print_field(&v, &ev->fields[field]);
	return copy_out(ev->trace, out, room);
}
