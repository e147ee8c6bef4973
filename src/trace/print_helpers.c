/*
 * Prints what the kernel's print helpers print: names of flags and symbols, arrays, bit masks, and the
 * variants of %p.
 */
#include "trace/trace.h"

#include <arpa/inet.h>

void print_flags(const struct raw_view *v, const struct node *n)
{
	uint64_t left = eval(v, n->a).v;
	bool any = false;

	for (size_t i = 0; i < n->n_pairs; i++) {
		uint64_t bits = n->pairs[i].value;

		if (!bits || (left & bits) != bits)
			continue;
		if (any)
			buf_str(v->out, n->text);
		buf_str(v->out, n->pairs[i].text);
		any = true;
		left &= ~bits;
	}
	if (!left)
		return;
	if (any)
		buf_str(v->out, n->text);
	buf_puts(v->out, "0x");
	print_hex(v->out, left);
}

void print_symbolic(const struct raw_view *v, const struct node *n)
{
	uint64_t value = eval(v, n->a).v;

	for (size_t i = 0; i < n->n_pairs; i++) {
		if (n->pairs[i].value == value) {
			buf_str(v->out, n->pairs[i].text);
			return;
		}
	}
	buf_puts(v->out, "0x");
	print_hex(v->out, value);
}

static void put_byte(struct buf *out, uint8_t b)
{
	static const char digits[] = "0123456789abcdef";

	buf_putc(out, digits[b >> 4]);
	buf_putc(out, digits[b & 15]);
}

void print_bytes(const struct raw_view *v, const struct node *n)
{
	struct str bytes = view_array(v, n->a);
	size_t len = (size_t)min_of(eval(v, n->b).v, (uint64_t)bytes.n);

	for (size_t i = 0; i < len; i++) {
		if (i && !n->number)
			buf_putc(v->out, ' ');
		put_byte(v->out, (uint8_t)bytes.s[i]);
	}
}

void print_list(const struct raw_view *v, const struct node *n)
{
	struct str bytes = view_array(v, n->a);
	uint64_t count = eval(v, n->b).v, size = eval(v, n->c).v;
	size_t at = (size_t)((const uint8_t *)bytes.s - v->raw);

	if (size != 1 && size != 2 && size != 4 && size != 8)
		return;
	buf_putc(v->out, '{');
	for (uint64_t i = 0; i < count && (i + 1) * size <= bytes.n; i++) {
		if (i)
			buf_putc(v->out, ',');
		buf_puts(v->out, "0x");
		print_hex(v->out, view_number(v, at + i * size, size, false));
	}
	buf_putc(v->out, '}');
}

/* Like the kernel's bit masks: words of eight hex digits, highest first, separated by commas. */
void print_bitmask(const struct raw_view *v, struct str bytes)
{
	bool swap = v->swap != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);

	for (size_t i = bytes.n; i-- > 0;) {
		size_t at = swap ? i / 8 * 8 + 7 - i % 8 : i;

		put_byte(v->out, at < bytes.n ? (uint8_t)bytes.s[at] : 0);
		if (i && i % 4 == 0)
			buf_putc(v->out, ',');
	}
}

/* ---- %p ---- */

static void print_function(const struct raw_view *v, const struct piece *p, uint64_t address)
{
	const struct tacho_trace_opts *o = v->opts;
	const char *name = NULL;
	uint64_t offset = 0;

	if (o && o->function)
		name = o->function(o->arg, address, &offset);
	if (!name) {
		buf_puts(v->out, "0x");
		print_hex(v->out, address);
		return;
	}
	buf_puts(v->out, name);
	if (p->extra[0] != 'S' && p->extra[0] != 'F' && p->extra[0] != 'B')
		return;
	buf_puts(v->out, "+0x");
	print_hex(v->out, offset);
}

static void print_ip4(const struct raw_view *v, const struct piece *p)
{
	struct str bytes = view_array(v, p->arg);

	for (size_t i = 0; i < 4 && bytes.n >= 4; i++) {
		unsigned b = (uint8_t)bytes.s[i];

		if (i)
			buf_putc(v->out, '.');
		if (p->extra[0] == 'i')
			buf_printf(v->out, "%03u", b);
		else
			buf_u64(v->out, b);
	}
}

static void print_ip6(const struct raw_view *v, const struct piece *p)
{
	struct str bytes = view_array(v, p->arg);
	char text[INET6_ADDRSTRLEN];

	if (bytes.n < 16)
		return;
	if (p->extra[2] == 'c') {
		if (inet_ntop(AF_INET6, bytes.s, text, sizeof(text)))
			buf_puts(v->out, text);
		return;
	}
	for (size_t i = 0; i < 16; i++) {
		if (i && i % 2 == 0 && p->extra[0] == 'I')
			buf_putc(v->out, ':');
		put_byte(v->out, (uint8_t)bytes.s[i]);
	}
}

static void print_mac(const struct raw_view *v, const struct piece *p)
{
	struct str bytes = view_array(v, p->arg);

	for (size_t i = 0; i < 6 && bytes.n >= 6; i++) {
		if (i && p->extra[0] == 'M')
			buf_putc(v->out, ':');
		put_byte(v->out, (uint8_t)bytes.s[i]);
	}
}

static void print_uuid(const struct raw_view *v, const struct piece *p)
{
	static const uint8_t big[] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15 };
	static const uint8_t little[] = { 3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15 };
	const uint8_t *order = p->extra[1] == 'l' || p->extra[1] == 'L' ? little : big;
	struct str bytes = view_array(v, p->arg);

	for (size_t i = 0; i < 16 && bytes.n >= 16; i++) {
		if (i == 4 || i == 6 || i == 8 || i == 10)
			buf_putc(v->out, '-');
		put_byte(v->out, (uint8_t)bytes.s[order[i]]);
	}
}

void print_pointer(const struct raw_view *v, const struct piece *p)
{
	uint64_t address;

	switch (p->extra[0]) {
	case 'I':
	case 'i':
		if (p->extra[1] == '4')
			print_ip4(v, p);
		else
			print_ip6(v, p);
		return;
	case 'M':
	case 'm':
		print_mac(v, p);
		return;
	case 'U':
		print_uuid(v, p);
		return;
	}
	address = eval(v, p->arg).v;
	if (p->extra[0]) {
		print_function(v, p, address);
		return;
	}
	if (!address) {
		buf_puts(v->out, "(nil)");
		return;
	}
	buf_puts(v->out, "0x");
	print_hex(v->out, address);
}
