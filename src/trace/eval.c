/*
 * Evaluates expressions over one record. A field that is not entirely inside the record counts as
 * zero.
 */
#include "trace/trace.h"

uint64_t view_number(const struct raw_view *v, size_t offset, size_t size, bool is_signed)
{
	uint8_t bytes[8] = { 0 };
	uint64_t number;
	unsigned drop;

	if (!size || size > 8 || offset > v->n || size > v->n - offset)
		return 0;
	for (size_t i = 0; i < size; i++)
		bytes[v->swap ? size - 1 - i : i] = v->raw[offset + i];
	memcpy(&number, bytes, 8);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	number >>= 64 - 8 * size;
#endif
	drop = 64 - 8 * (unsigned)size;
	return is_signed ? (uint64_t)((int64_t)(number << drop) >> drop) : number;
}

struct str view_field(const struct raw_view *v, const struct tacho_trace_field *f)
{
	size_t at = f->offset, n = f->size;

	if (f->is_dynamic) {
		uint64_t where = view_number(v, f->offset, 4, false);

		at = (where & 0xffff) + (f->is_relative ? f->offset + 4u : 0);
		n = where >> 16;
	}
	if (at > v->n)
		return (struct str){ "", 0 };
	return str_n((const char *)v->raw + at, min_of(n, v->n - at));
}

struct str view_array(const struct raw_view *v, const struct node *n)
{
	while (n->kind == NODE_CAST)
		n = n->a;
	if (n->kind == NODE_CHOICE)
		return view_array(v, eval(v, n->a).v ? n->b : n->c);
	if (n->field && n->kind != NODE_INDEX && n->kind != NODE_ARRAY_LEN)
		return view_field(v, n->field);
	return (struct str){ "", 0 };
}

static struct value eval_index(const struct raw_view *v, const struct node *n)
{
	const struct tacho_trace_field *f = n->field;
	struct str bytes = view_field(v, f);
	uint64_t i = eval(v, n->a).v;
	size_t size = f->element_size ? f->element_size : 1;

	if (size > 8 || i >= bytes.n / size)
		return (struct value){ 0 };
	return (struct value){
		view_number(v, (size_t)((const uint8_t *)bytes.s - v->raw) + i * size, size, f->is_signed),
		size == 8 && !f->is_signed,
	};
}

/* An arithmetic shift for signed numbers, as with the compilers of the kernel. */
static uint64_t shift_right(struct value a, uint64_t by)
{
	uint64_t sign = !a.wide && (int64_t)a.v < 0 ? UINT64_MAX : 0;

	if (by >= 64)
		return 0;
	return by && sign ? a.v >> by | sign << (64 - by) : a.v >> by;
}

struct value binary(uint8_t op, struct value a, struct value b)
{
	bool wide = a.wide || b.wide;
	int64_t x = (int64_t)a.v, y = (int64_t)b.v;
	uint64_t r = 0;

	switch (op) {
	case OP_AND: return (struct value){ a.v && b.v, false };
	case OP_OR: return (struct value){ a.v || b.v, false };
	case OP_EQ: return (struct value){ a.v == b.v, false };
	case OP_NE: return (struct value){ a.v != b.v, false };
	case '<': return (struct value){ wide ? a.v < b.v : x < y, false };
	case '>': return (struct value){ wide ? a.v > b.v : x > y, false };
	case OP_LE: return (struct value){ wide ? a.v <= b.v : x <= y, false };
	case OP_GE: return (struct value){ wide ? a.v >= b.v : x >= y, false };
	case OP_SHL: return (struct value){ b.v < 64 ? a.v << b.v : 0, a.wide };
	case OP_SHR: return (struct value){ shift_right(a, b.v), a.wide };
	case '+': r = a.v + b.v; break;
	case '-': r = a.v - b.v; break;
	case '*': r = a.v * b.v; break;
	case '|': r = a.v | b.v; break;
	case '&': r = a.v & b.v; break;
	case '^': r = a.v ^ b.v; break;
	case '/':
	case '%':
		if (!b.v || (y == -1 && !wide))
			r = op == '/' && b.v ? 0 - a.v : 0;
		else if (wide)
			r = op == '/' ? a.v / b.v : a.v % b.v;
		else
			r = (uint64_t)(op == '/' ? x / y : x % y);
		break;
	}
	return (struct value){ r, wide };
}

struct value cast(const struct node *n, struct value a)
{
	unsigned drop = n->cast_size ? 64 - 8u * n->cast_size : 0;

	if (n->cast_pointer || !n->cast_size)
		return (struct value){ a.v, true };
	if (n->cast_signed)
		return (struct value){ (uint64_t)((int64_t)(a.v << drop) >> drop), false };
	return (struct value){ a.v << drop >> drop, drop == 0 };
}

static struct value eval_unary(const struct node *n, struct value a)
{
	switch (n->op) {
	case '!': return (struct value){ !a.v, false };
	case '~': return (struct value){ ~a.v, a.wide };
	default: return (struct value){ 0 - a.v, a.wide };
	}
}

static struct value eval_field(const struct raw_view *v, const struct tacho_trace_field *f)
{
	if (f->is_array)
		return (struct value){ 0 };
	return (struct value){ view_number(v, f->offset, f->size, f->is_signed),
			       f->size == 8 && !f->is_signed };
}

struct value eval(const struct raw_view *v, const struct node *n)
{
	switch (n->kind) {
	case NODE_NUMBER: return (struct value){ n->number, false };
	case NODE_FIELD: return eval_field(v, n->field);
	case NODE_INDEX: return eval_index(v, n);
	case NODE_CAST: return cast(n, eval(v, n->a));
	case NODE_UNARY: return eval_unary(n, eval(v, n->a));
	case NODE_BINARY: return binary(n->op, eval(v, n->a), eval(v, n->b));
	case NODE_CHOICE: return eval(v, eval(v, n->a).v ? n->b : n->c);
	case NODE_ARRAY_LEN: return (struct value){ view_field(v, n->field).n, false };
	default: return (struct value){ 0 };
	}
}
